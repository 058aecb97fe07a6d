/** A problem with a request: the field, and what was expected. */
export interface Problem {
  path: string;
  message: string;
}

/**
 * An error with an HTTP status. Its message is shown to the caller, so it must not contain a secret or a stack trace.
 */
export class AppError extends Error {
  readonly status: number;
  readonly problems: Problem[] | undefined;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, more: { problems?: Problem[]; headers?: Record<string, string> } = {}) {
    super(message);
    this.name = 'AppError';
    this.status = status;
    this.problems = more.problems;
    this.headers = more.headers ?? {};
  }
}

/** Creates a 400 with one sentence per problem. */
export function badRequest(problems: Problem[]): AppError {
  return new AppError(400, problems.map((p) => p.message).join('; '), { problems });
}

/** Creates a 400 about one field. */
export function badField(path: string, message: string): AppError {
  return badRequest([{ path, message }]);
}

export function unauthorized(): AppError {
  return new AppError(401, 'Unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } });
}

export function notAMember(projectId: string): AppError {
  return new AppError(403, `User is not a member of project ${projectId}`);
}

export function requiresRole(role: string): AppError {
  return new AppError(403, `Requires the ${role} role`);
}

/** Creates a 403 for a token that allows less than its person may do. */
export function requiresScope(needed: string, found: string): AppError {
  return new AppError(403, `Requires a token with the ${needed} scope; this one has the ${found} scope`);
}

/** Creates a 403 for somebody who has signed in to GitHub, but may not use this service. */
export function notAdmitted(): AppError {
  return new AppError(
    403,
    'This service is for members of its projects, and of the accounts on GitHub that have installed its App. Ask an owner of a project to add you, or ask whoever runs the service. If your account installed the App a moment ago, try again in a minute.',
  );
}

/** Creates a 404 such as `Task task_… not found`, for unknown objects and for those that the caller may not see. */
export function notFound(kind: string, id: string): AppError {
  return new AppError(404, `${kind} ${id} not found`);
}

/** Creates a 502: GitHub or the model responded with an error. */
export function upstreamFailed(who: string, what: string): AppError {
  return new AppError(502, `${who} answered with an error: ${what}`);
}

/** Creates a 503: a required setting or credential is missing. */
export function notConfigured(message: string): AppError {
  return new AppError(503, message);
}

/** The response of another server exceeded a limit and was not read any further. Retrying is pointless. */
export class AnswerRefused extends Error {
  /** The predicate of the error's sentence, such as `is larger than 4 MB`. */
  readonly what: string;

  constructor(what: string) {
    super(`the answer ${what}`);
    this.name = 'AnswerRefused';
    this.what = what;
  }
}

/** Another server stopped sending in the middle of its response. The same request may succeed later. */
export class AnswerStalled extends Error {
  constructor(seconds: number) {
    super(`sent nothing for ${seconds} s in the middle of its answer`);
    this.name = 'AnswerStalled';
  }
}

/** Finds the AnswerRefused that caused an error, because client libraries wrap what `fetch` throws. */
export function refusedAnswer(error: unknown): AnswerRefused | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof AnswerRefused) return each;
  return undefined;
}

/** What GraphQL refused, which it does with status 200: its words, and what they are about. */
export interface GraphqlRefusal {
  reason: string;
  isForbidden: boolean;
  /** Whether all of it is about objects that GitHub does not have, or does not show us. */
  isMissing: boolean;
}

/** Returns what GraphQL refused; undefined for other errors. Limits and faults are errors with a status; see github/app/pacing.ts. */
export function graphqlRefusal(error: unknown): GraphqlRefusal | undefined {
  const { name, errors } = error as { name?: string; errors?: { type?: string; message: string }[] };
  if (name !== 'GraphqlResponseError' || !Array.isArray(errors)) return undefined;
  return {
    reason: errors.map(({ message }) => message).join('; '),
    isForbidden: errors.some(({ type }) => type === 'FORBIDDEN'),
    isMissing: errors.every(({ type }) => type === 'NOT_FOUND'),
  };
}
