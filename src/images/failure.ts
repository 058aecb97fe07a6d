import { RunFailed } from '../domain/run.ts';

/** The failure of a run whose image cannot be used. The message is a sentence without its full stop. */
export function imageFailed(message: string): RunFailed {
  return new RunFailed('setup', message);
}

/**
 * Returns a failure for what went wrong while an image was fetched or unpacked. Text from other programs and servers is
 * cut and has no control characters.
 */
export function asImageFailure(error: unknown, what: string): RunFailed {
  if (error instanceof RunFailed) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return imageFailed(`${what}: the worker's disk is full; free some space there or lower ENVIRONMENT_CACHE_GB`);
  return imageFailed(`${what}: ${quoted(message)}`);
}

/** Longest text of others in a message. */
const maxQuoted = 300;

/** Makes text of others fit for a message. */
export function quoted(text: string): string {
  return text
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, maxQuoted);
}
