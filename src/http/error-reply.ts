import type { ErrorRequestHandler } from 'express';
import type { App } from '../app.ts';
import { isDatabaseAway } from '../db/database.ts';
import { Refused } from '../domain/machine.ts';
import { oneLine } from '../domain/text/sanitize.ts';
import { AppError, upstreamFailed } from '../errors.ts';
import { answerAndHangUp, isUnread } from './limits/hang-up.ts';

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
    return upstreamFailed('GitHub', `HTTP ${status ?? 0}, ${oneLine(message, 200)}`);
  }
  // Express sets this status when a path contains invalid percent-encoding.
  const status = (error as { status?: unknown }).status;
  if (status === 400) return new AppError(404, 'No such address');
  return new AppError(500, 'Internal server error');
}
