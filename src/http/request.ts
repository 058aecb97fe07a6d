import type { Request, Response } from 'express';
import type { z } from 'zod';
import { AppError, badRequest, type Problem } from '../errors.ts';
import { bodyBudget } from './limits/body-budget.ts';
import { isModest, maxDepth, maxValues } from './limits/modest-json.ts';
import { type BodyLimits, readBytes } from './limits/read-body.ts';
import type { Route } from './route.ts';

/** A caller with more problems learns of the others next time. */
const maxProblems = 100;
/** A name of ours is shorter; of a caller's, this much is said. */
const maxNameLength = 100;
const limits: BodyLimits = {
  maxBytes: 1024 * 1024,
  withinMs: 20_000,
  budget: bodyBudget({ total: 64 * 1024 * 1024, each: 8 * 1024 * 1024 }),
};

/** Reads the JSON body of a user's request; without a body it is undefined. @throws AppError 400, 408, 413, 415, 503 */
export async function readBody(req: Request, userId: string): Promise<unknown> {
  const isEmpty = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  if (isEmpty) return undefined;
  if (!req.is('application/json')) throw new AppError(415, 'The body must be JSON (Content-Type: application/json)');
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(req.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) throw new AppError(415, 'The body must be encoded as UTF-8');
  const body = await readBytes(req, userId, limits);
  try {
    return parsed(body.join());
  } finally {
    body.release();
  }
}

function parsed(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isModest(bytes))
    throw badRequest([
      {
        path: '',
        message: `The body must have at most ${maxValues} values and ${maxDepth} levels of objects and lists`,
      },
    ]);
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw badRequest([{ path: '', message: 'The body must be valid JSON' }]);
  }
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
    throw badRequest(unknownKeys(keys, ''));
  }
  const parsed = schema.safeParse(value === undefined ? {} : value);
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues.flatMap(problemsOf).slice(0, maxProblems));
}

function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, path);
  return [{ path, message: path ? `${path}: ${issue.message}` : issue.message }];
}

function unknownKeys(keys: string[], path: string): Problem[] {
  return keys.slice(0, maxProblems).map((key) => {
    const at = `${path}${path && '.'}${key.slice(0, maxNameLength)}`;
    return { path: at, message: `${at} is not known here` };
  });
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
