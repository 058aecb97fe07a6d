import express, { type Request, type Response } from 'express';
import type { z } from 'zod';
import { AppError, badRequest } from '../errors.ts';
import type { Route } from './route.ts';

/** Whoever sends more of them learns of the others next time. */
const maxProblems = 100;

const jsonBody = express.json({ limit: '1mb', strict: false, type: 'application/json' });

/** Reads a JSON body of at most 1 MB into `req.body`; none leaves it undefined. @throws AppError 400, 413, 415 */
export function readBody(req: Request, res: Response): Promise<void> {
  const isEmpty = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  if (isEmpty) return Promise.resolve();
  if (!req.is('application/json')) throw new AppError(415, 'The body must be JSON (Content-Type: application/json)');
  return new Promise((resolve, reject) =>
    jsonBody(req, res, (error) => (error ? reject(bodyError(error)) : resolve())),
  );
}

function bodyError(error: { type?: string; status?: number }): unknown {
  if (error.type === 'entity.too.large') return new AppError(413, 'The body must have at most 1 MB');
  if (error.type === 'entity.parse.failed') return badRequest([{ path: '', message: 'The body must be valid JSON' }]);
  if (error.status === 415) return new AppError(415, 'The body has an encoding or charset that is not supported');
  return error.status === 400 ? badRequest([{ path: '', message: 'The body could not be read' }]) : error;
}

/** The query or body by its schema. @throws AppError 400 with a sentence per problem */
export function validated(declared: Route, where: 'query' | 'body', value: unknown): unknown {
  const schema = declared[where];
  if (schema === undefined) {
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw badRequest([{ path: '', message: 'The body must be empty' }]);
    const keys = Object.keys(value);
    if (keys.length === 0) return undefined;
    throw badRequest(keys.map((key) => ({ path: key, message: `${key} is not known here` })));
  }
  const parsed = schema.safeParse(value === undefined ? {} : value);
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues.flatMap(problemsOf).slice(0, maxProblems));
}

function problemsOf(issue: z.core.$ZodIssue): { path: string; message: string }[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const at = path ? `${path}.${key}` : key;
      return { path: at, message: `${at} is not known here` };
    });
  return [{ path, message: path ? `${path}: ${issue.message}` : issue.message }];
}

/** Cuts the row that tells of a next page, and makes the `Link` header. */
export function cutPage(
  req: Request,
  res: Response,
  rows: unknown[],
  { limit, offset }: { limit?: number; offset: number },
) {
  const link = (rel: string, at: number) => {
    const query = new URLSearchParams(req.query as Record<string, string>);
    query.set('limit', String(limit));
    query.set('offset', String(at));
    return `<${req.baseUrl}${req.path}?${query}>; rel="${rel}"`;
  };
  // All of it: there is no page before or after.
  if (limit === undefined) return rows;
  const links = [];
  if (rows.length > limit) links.push(link('next', offset + limit));
  if (offset > 0) links.push(link('prev', Math.max(0, offset - limit)));
  if (links.length > 0) res.setHeader('Link', links.join(', '));
  return rows.slice(0, limit);
}
