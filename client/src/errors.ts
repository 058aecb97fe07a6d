/** A field of the request that the service did not accept. */
export interface FieldProblem {
  path: string;
  message: string;
}

/** The service refused a request, failed, or could not be reached. */
export class DeckhandError extends Error {
  override name = 'DeckhandError';
  /** The status of the reply, or 0 if there was none. */
  readonly status: number;
  /** What is wrong with the fields of the request; empty for other errors. */
  readonly errors: FieldProblem[];
  /** After how many seconds the service wants to be asked again, if it said so. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    message: string,
    {
      errors = [],
      retryAfter,
      cause,
    }: { errors?: FieldProblem[]; retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.errors = errors;
    this.retryAfter = retryAfter;
  }
}

/** Reads the body of an error reply, which may come from a proxy in front of the service. */
export async function errorOf(response: Response): Promise<DeckhandError> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const retryAfter = secondsOf(response.headers.get('retry-after'));
  const reply = replyIn(text);
  if (reply !== undefined) return new DeckhandError(status, reply.message, { errors: reply.errors ?? [], retryAfter });
  if (status >= 300 && status < 400) {
    const target = response.headers.get('location') ?? 'another address';
    return new DeckhandError(status, `The address redirects to ${target}. Use the address of Deckhand itself.`);
  }
  return new DeckhandError(
    status,
    `The address answered with status ${status}, and not as Deckhand does. Check the address, and the proxy in front of it.`,
    { retryAfter },
  );
}

function replyIn(text: string): { message: string; errors?: FieldProblem[] } | undefined {
  try {
    const reply = JSON.parse(text);
    if (typeof reply?.message !== 'string') return undefined;
    return { message: reply.message, ...(Array.isArray(reply.errors) ? { errors: reply.errors } : {}) };
  } catch {
    return undefined;
  }
}

/** Reads `Retry-After`, which is a number of seconds or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** Codes of certificates that Node does not trust. Another try would find the same one. */
const untrusted = /CERT|SIGNATURE|ISSUER/;

/** Returns an error for a request that got no reply. */
export function unreachable(url: string, error: unknown): DeckhandError {
  const code = codeOf(error);
  const message = untrusted.test(code)
    ? `The certificate of ${url} is not trusted (${code}). If your company has a certificate authority of its own, give the file with its certificate: --ca <file> on the command line, or the variable NODE_EXTRA_CA_CERTS.`
    : `${url} cannot be reached (${code}). Check the address and your connection.`;
  return new DeckhandError(0, message, { cause: error });
}

/** Returns whether another try may succeed where a request got no reply. */
export const mayBeReached = (error: DeckhandError): boolean =>
  error.status === 0 && error.cause !== undefined && !untrusted.test(codeOf(error.cause));

function codeOf(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string') return code;
    if (at.name === 'TimeoutError') return 'no reply in time';
  }
  return 'the connection broke';
}
