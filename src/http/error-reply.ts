import type { ErrorRequestHandler } from 'express';
import type { App } from '../app.ts';
import { isDatabaseAway } from '../db/database.ts';
import { Refused } from '../domain/machine.ts';
import { oneLine } from '../domain/text/quoted.ts';
import { AppError, upstreamFailed } from '../errors.ts';
import { answerAndHangUp, isUnread } from './limits/hang-up.ts';

/** Answers every error with a JSON body of one shape. Errors that may contain internals become a plain 500. */
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

/** The body of an error's reply. */
export function replyOf({ status, message, problems }: AppError): object {
  return { statusCode: status, message, ...(problems === undefined ? {} : { errors: problems }) };
}

/** Turns any error into one that may be shown. */
export function knownError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof Refused) return new AppError(409, error.message);
  if (isDatabaseAway(error)) return new AppError(503, 'The database is away', { headers: { 'Retry-After': '5' } });
  // Octokit throws HttpError for every failed call; its message comes from GitHub.
  if ((error as Error).name === 'HttpError') {
    const { status, message } = error as { status?: number; message: string };
    return upstreamFailed('GitHub', `HTTP ${status ?? 0}, ${oneLine(message, 200)}`);
  }
  // Express reports a path with invalid percent-encoding with this status.
  const status = (error as { status?: unknown }).status;
  if (status === 400) return new AppError(404, 'No such address');
  return new AppError(500, 'Internal server error');
}
