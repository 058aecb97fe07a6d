import type { Request } from 'express';
import { AppError, badRequest } from '../errors.ts';
import { plainly, problemsIn, unknownKeys } from './error-reply.ts';
import { bodyBudget } from './limits/body-budget.ts';
import { type BodyLimits, isModest, maxDepth, maxValues, readBytes } from './limits/read-body.ts';
import type { Route } from './route.ts';

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
  const parsed = schema.safeParse(value === undefined ? {} : value, { error: plainly, reportInput: true });
  if (parsed.success) return parsed.data;
  throw badRequest(problemsIn(parsed.error.issues, where));
}
