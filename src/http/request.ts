import type { Request, Response } from 'express';
import type { z } from 'zod';
import { AppError, badRequest, type Problem } from '../errors.ts';
import { bodyBudget } from './limits/body-budget.ts';
import { isModest, maxDepth, maxValues } from './limits/modest-json.ts';
import { type BodyLimits, readBytes } from './limits/read-body.ts';
import type { Route } from './route.ts';

/** Problems listed in one reply. */
const maxProblems = 100;
/** Longer names are not field names of this API, so errors show only their beginning. */
const maxNameLength = 100;
const limits: BodyLimits = {
  maxBytes: 1024 * 1024,
  withinMs: 20_000,
  budget: bodyBudget({ total: 64 * 1024 * 1024, each: 8 * 1024 * 1024 }),
};

/** A parsed body. It counts against the memory for bodies until it is released. */
export interface ReadBody {
  /** Undefined for an empty body. */
  value: unknown;
  release(): void;
}

export const noBody: ReadBody = { value: undefined, release: () => {} };

/**
 * Reads the JSON body of a user's request.
 * @throws AppError 400, 408, 413, 415, 503
 */
export async function readBody(req: Request, userId: string): Promise<ReadBody> {
  const isEmpty = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0;
  if (isEmpty) return noBody;
  if (!req.is('application/json')) throw new AppError(415, 'The body must be JSON (Content-Type: application/json)');
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(req.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) throw new AppError(415, 'The body must be encoded as UTF-8');
  const body = await readBytes(req, userId, limits);
  try {
    return { value: parsed(body.join()), release: body.release };
  } catch (error) {
    body.release();
    throw error;
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

/**
 * Validates the query or body against the route's schema.
 * @throws AppError 400 with a sentence per problem
 */
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
  const parsed = schema.safeParse(value === undefined ? {} : value, { error: plainly });
  if (parsed.success) return parsed.data;
  throw badRequest(parsed.error.issues.flatMap(problemsOf).slice(0, maxProblems));
}

const required = 'is required';
const kinds: Record<string, string> = { int: 'a whole number', array: 'a list', object: 'an object' };
const counted: Record<string, [one: string, several: string]> = {
  string: [' character', ' characters'],
  array: [' entry', ' entries'],
};

/** Rewrites zod's most common messages in plain words. Returns undefined to keep the original message. */
function plainly(issue: z.core.$ZodRawIssue): string | undefined {
  const { code } = issue;
  if ((code === 'invalid_type' || code === 'invalid_value') && issue.input === undefined) return required;
  if (code === 'invalid_type') return `must be ${kinds[issue.expected] ?? `a ${issue.expected}`}`;
  if (code === 'invalid_value') return `must be ${issue.values.map((v) => JSON.stringify(v)).join(' or ')}`;
  if (code === 'too_small') return bounded('least', issue.minimum, issue.origin);
  if (code === 'too_big') return bounded('most', issue.maximum, issue.origin);
  return undefined;
}

function bounded(bound: 'least' | 'most', limit: number | bigint, origin: string): string {
  const unit = counted[origin]?.[Number(limit) === 1 ? 0 : 1];
  return `must ${unit === undefined ? 'be' : 'have'} at ${bound} ${limit}${unit ?? ''}`;
}

function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, path);
  if (path === '')
    return [{ path, message: issue.code === 'invalid_type' ? `The body ${issue.message}` : issue.message }];
  return [{ path, message: `${path}${issue.message === required ? ' ' : ': '}${issue.message}` }];
}

function unknownKeys(keys: string[], path: string): Problem[] {
  return keys.slice(0, maxProblems).map((key) => {
    const at = `${path}${path && '.'}${key.slice(0, maxNameLength)}`;
    return { path: at, message: `${at} is not a known field` };
  });
}

/** Removes the extra row that indicates a next page, and sets the `Link` header. */
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
  // Without a limit the whole list is returned.
  if (limit === undefined) return rows;
  const links = [];
  if (rows.length > limit) links.push(link('next', offset + limit));
  if (offset > 0) links.push(link('prev', Math.max(0, offset - limit)));
  if (links.length > 0) res.setHeader('Link', links.join(', '));
  return rows.slice(0, limit);
}
