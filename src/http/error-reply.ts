import type { ErrorRequestHandler } from 'express';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { isDatabaseAway } from '../db/database.ts';
import { Refused } from '../domain/machine.ts';
import { withAdvice } from '../domain/text/github-advice.ts';
import { oneLine } from '../domain/text/sanitize.ts';
import { AppError, graphqlRefusal, type Problem, upstreamFailed } from '../errors.ts';
import { answerAndHangUp, isUnread } from './limits/hang-up.ts';

/** Problems listed in one reply. */
const maxProblems = 100;
/** Longer names are not field names of this API, so errors show only their beginning. */
const maxNameLength = 100;

const required = 'is required';
const repeated = 'must be given only once';
/** For problems that a schema does not describe. No schema may need it; a test checks all of them. */
export const undescribed = 'is invalid';

const kinds: Record<string, string> = {
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
  null: 'null',
};
const counted: Record<string, [one: string, several: string]> = {
  string: [' character', ' characters'],
  array: [' entry', ' entries'],
};

/**
 * Says what is wrong with a value, as the end of a sentence that begins with the name of the field. Given to zod, which
 * prefers the message of a schema if there is one.
 */
export function plainly(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value':
      return `must be ${orList(issue.values.map((value) => (typeof value === 'string' ? value : String(value))))}`;
    case 'too_small':
      return bounded('least', issue.minimum, issue);
    case 'too_big':
      return bounded('most', issue.maximum, issue);
    case 'invalid_union':
      return `must be ${orList(issue.errors.flatMap(expectedBy))}`;
    default:
      return undescribed;
  }
}

function bounded(
  bound: 'least' | 'most',
  limit: number | bigint,
  { origin, inclusive }: { origin: string; inclusive?: boolean },
): string {
  const unit = counted[origin]?.[Number(limit) === 1 ? 0 : 1];
  if (unit !== undefined) return `must have at ${bound} ${limit}${unit}`;
  if (inclusive === false) return `must be ${bound === 'least' ? 'above' : 'below'} ${limit}`;
  return `must be at ${bound} ${limit}`;
}

/** Returns what one form of a union expects of the value itself. */
function expectedBy(issues: z.core.$ZodIssue[]): string[] {
  const own = issues.filter(({ path }) => path.length === 0);
  return own.map((issue) => ('expected' in issue ? (kinds[issue.expected] ?? `a ${issue.expected}`) : issue.message));
}

function orList(words: string[]): string {
  const unique = [...new Set(words)];
  return unique.length < 2 ? (unique[0] ?? 'something else') : `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`;
}

/** Turns the issues of a query or a body into problems, each with a sentence. The issues must contain their inputs. */
export function problemsIn(issues: z.core.$ZodIssue[], where: 'query' | 'body'): Problem[] {
  const wrongTypes = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')));
  // The length of a value of a wrong type does not matter.
  const telling = issues.filter(({ code, path }) => code === 'invalid_type' || !wrongTypes.has(path.join('.')));
  return telling.flatMap((issue) => problemsOf(issue, where)).slice(0, maxProblems);
}

function problemsOf(issue: z.core.$ZodIssue, where: 'query' | 'body'): Problem[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, path);
  const message = wholeProblem(issue, where) ?? issue.message;
  if (path !== '') return [{ path, message: `${path} ${message}` }];
  return [{ path, message: message.startsWith('must ') ? `The ${where} ${message}` : message }];
}

/** Says what is wrong with a value whatever its field expects: it is missing, or its parameter was repeated. */
function wholeProblem({ code, input, path }: z.core.$ZodIssue, where: 'query' | 'body'): string | undefined {
  if (!['invalid_type', 'invalid_value', 'invalid_union'].includes(code)) return undefined;
  if (input === undefined) return required;
  return where === 'query' && path.length === 1 && Array.isArray(input) ? repeated : undefined;
}

export function unknownKeys(keys: string[], path: string): Problem[] {
  return keys.slice(0, maxProblems).map((key) => {
    const at = `${path}${path && '.'}${key.slice(0, maxNameLength)}`;
    return { path: at, message: `${at} is not a known field` };
  });
}

/** Replies to every error with a JSON body of the same shape. Errors that may contain internals become a plain 500. */
export function errorReply(app: App): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error);
    const known = knownError(error);
    if (known.status >= 500)
      app.log.error(
        { err: error, requestId: res.locals.requestId, method: req.method, path: req.path },
        'request failed',
      );
    for (const [name, value] of Object.entries(known.headers)) res.setHeader(name, value);
    res.status(known.status);
    if (isUnread(req)) answerAndHangUp(req, res.type('json'), JSON.stringify(replyOf(known)));
    else res.json(replyOf(known));
  };
}

/** Returns the body of an error's reply. */
export function replyOf({ status, message, problems }: AppError): object {
  return { statusCode: status, message, ...(problems === undefined ? {} : { errors: problems }) };
}

/** Converts any error into one that may be shown to the caller. */
export function knownError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof Refused) return new AppError(409, error.message);
  if (isDatabaseAway(error))
    return new AppError(503, 'The database is unavailable', { headers: { 'Retry-After': '5' } });
  // Octokit throws HttpError for every failed call; the message comes from GitHub.
  if ((error as Error).name === 'HttpError') {
    const { status, message } = error as { status?: number; message: string };
    return upstreamFailed('GitHub', withAdvice(`HTTP ${status ?? 0}, ${oneLine(message, 300)}`));
  }
  const refusal = graphqlRefusal(error);
  if (refusal !== undefined) return upstreamFailed('GitHub', oneLine(refusal.reason, 200));
  // Express sets this status when a path contains invalid percent-encoding.
  const status = (error as { status?: unknown }).status;
  if (status === 400) return new AppError(404, 'No such address');
  return new AppError(500, 'Internal server error');
}
