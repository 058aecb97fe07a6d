import { z } from 'zod';
import type { App } from '../app.ts';
import type { AuditAction } from '../domain/audit.ts';
import type { Access } from './access/access.ts';
import type { EventStream } from './events.ts';
import type { Costs } from './limits/rate-limit.ts';

/** A time in a reply: ISO 8601 in UTC. */
export const Timestamp = z
  .union([z.date(), z.string()])
  .transform((t) => (typeof t === 'string' ? t : t.toISOString()))
  .pipe(z.string())
  .meta({
    override: { type: 'string', format: 'date-time', anyOf: undefined } as object,
    example: '2026-01-15T09:30:00.000Z',
  });

/** Returns whether a text is a day YYYY-MM-DD of the calendar, from the year 1 on, which PostgreSQL can store. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '0001') return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** PostgreSQL cannot store NUL in text. */
const noNul = (s: string) => !s.includes('\0');
/** JSON of PostgreSQL cannot store half of a surrogate pair, which clients send that cut a text. */
const wellFormed = (s: string) => s.toWellFormed();
export const titleText = (max = 200) =>
  z
    .string()
    .trim()
    .min(1, `must have 1 to ${max} characters`)
    .max(max, `must have 1 to ${max} characters`)
    .overwrite(wellFormed)
    .refine(noNul, 'must not contain a NUL character');
export const longText = (max = 50_000) =>
  z
    .string()
    .max(max, `must have at most ${max} characters`)
    .overwrite(wellFormed)
    .refine(noNul, 'must not contain a NUL character');
export const IdText = z.string().min(1).max(255).refine(noNul, 'must not contain a NUL character');

/** Returns the schema of a whole number in a query, where all values are strings. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number between ${min} and ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be between ${min} and ${max}`).max(max, `must be between ${min} and ${max}`));
export const pageQuery = {
  limit: wholeNumber(1, 100)
    .default(20)
    .meta({ override: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, description: 'results per page' }),
  offset: wholeNumber(0, 999_999_999)
    .default(0)
    .meta({ override: { type: 'integer', minimum: 0, default: 0 }, description: 'results to skip' }),
};
/** For lists that are complete without a limit, unless they are too large for one reply. */
export const wholeListQuery = {
  limit: wholeNumber(1, 100)
    .optional()
    .meta({
      override: { type: 'integer', minimum: 1, maximum: 100 },
      description: 'results per page; if missing, all results are returned, up to 5 MB',
    }),
  offset: pageQuery.offset,
};

export const ErrorReply = z
  .object({
    statusCode: z.int(),
    message: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'ErrorReply' });

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export const methodsWithBody: Method[] = ['post', 'put', 'patch'];

type Input<S extends z.ZodType | undefined> = S extends z.ZodType ? z.output<S> : undefined;
type Output<R extends ReplyDeclaration> = R extends readonly [number, infer S extends z.ZodType] ? z.input<S> : unknown;
export type ReplyDeclaration = readonly [number, z.ZodType] | readonly [204];

/** The information about its `Idempotency-Key` that a handler receives. */
export interface Keyed {
  /** An id that is the same for every attempt at this request, in every process. */
  id: string;
  /** An earlier attempt ended without a reply, for example because of a crash. */
  isAgain: boolean;
}

/** The result of an earlier request. The reply has status 200 instead of 201. */
export class Repeated<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/** What an operation would do, for a request that only asks. The reply has status 200 and the shape `previews`. */
export class Preview {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** The result of a request of which the rest happens later. The reply has status 202 and the shape of `reply`. */
export class Later<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/** A reply that is JSON already, in the shape that the route declares. */
export class Serialized {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The input of a handler. */
type Given<C, Q, B> = C & { query: Q; body: B; keyed?: Keyed | undefined };

/** The object that a record of the audit log is about. `projectId` is null for what belongs to no project. */
interface Subject {
  id: string;
  projectId: string | null;
}

/** What the audit log records of a write, beside the person, the time and what the operation notes (`app.audit`). */
export type Audited<G, T> = { action: AuditAction } & (
  | { object: (given: G) => Subject; made?: undefined }
  /** For operations that create their object. */
  | { made: (result: T, given: G) => Subject; object?: undefined }
);

/** Every route that changes something says what its record contains, so that no change goes unrecorded. */
type Effect<G, T> = { method: 'get'; audit?: undefined } | { method: Exclude<Method, 'get'>; audit: Audited<G, T> };

interface Declaration<C, Q extends z.ZodType | undefined, B extends z.ZodType | undefined, R extends ReplyDeclaration> {
  /**
   * The name of the operation in OpenAPI and of its function in the generated client, such as `startTask`. Unique among
   * all routes.
   */
  operationId: string;
  method: Method;
  /** The path relative to /api/v1, with `:name` for parameters. */
  path: string;
  summary: string;
  /**
   * What a model reads about the operation's tool in the MCP server: what it does, when to use it, and what comes back. Left
   * out: the summary. null: it is no tool, for example because only the dashboard needs it.
   */
  guide?: string | null;
  /** The group in OpenAPI, and the toolset in the MCP server. */
  tag: string;
  access: Access<C>;
  query?: Q;
  body?: B;
  /** Status and shape of a success. The reply is reduced to the properties that the shape declares. */
  reply: R;
  /** Further statuses and their reasons, in addition to those of every route (400, 401, 403, 404). */
  errors?: Record<number, string>;
  /** Description of the 200 for a repeated request, for which the handler returns `Repeated`. */
  repeats?: string;
  /** Description and shape of the 200 for a request that changes nothing, for which the handler returns `Preview`. */
  previews?: { description: string; shape: z.ZodType };
  /** Description of the 202 for a request of which the rest happens later, for which the handler returns `Later`. */
  defers?: string;
  /** The reply contains a secret, so it is not stored for repeated requests with the same Idempotency-Key. */
  isSecret?: boolean;
  /** The additional, stricter limit that the request counts against. */
  costs?: Costs;
  /** Returns how many requests it counts as against the limit of its user. The query is not validated yet. */
  counts?: (query: Record<string, unknown>) => number;
  /**
   * At which point the handler waits for GitHub or a model. The record of the audit log and, with an `Idempotency-Key`,
   * the reply are stored in the same transaction as the handler's writes, but no transaction may stay open during a slow
   * call:
   * - undefined: it never waits. The whole handler is one transaction.
   * - `before it writes`: the handler's first `transaction` also stores record and reply, and nothing slow follows it.
   *   Statements before it are committed one by one, so repeating them must be harmless.
   * - `between writes`: the handler's first `transaction` stores the record; the reply is stored afterwards, in a separate
   *   transaction. After a crash, a repeated request runs the handler again with `keyed.isAgain`, and the handler must
   *   detect what was already done.
   */
  waits?: 'before it writes' | 'between writes';
  /** Whether a request with this body, which is not validated yet, waits; left out: all do. */
  waitsFor?: (body: unknown) => boolean;
  /**
   * The handler returns up to `limit + 1` rows; the server removes the extra row and sets the `Link` header. If the query
   * allows requests without a limit, the server reads the list in portions.
   */
  paged?: boolean;
  handle: (
    app: App,
    given: Given<C, Input<Q>, Input<B>>,
  ) => Promise<Output<R> | Repeated<Output<R>> | Later<Output<R>> | Preview | Serialized>;
  /** Handles the request instead if the caller accepts `text/event-stream`. `streams` describes the events. */
  stream?: (app: App, given: Given<C, Input<Q>, Input<B>>, out: EventStream) => Promise<void>;
  streams?: string;
  /** Replies with all results, one per line, if the caller accepts `application/x-ndjson`. Returns them in portions. */
  exports?: (app: App, given: Given<C, Input<Q>, Input<B>>) => AsyncIterable<unknown[]>;
  /** The route always replies with a stream. */
  isStream?: boolean;
}

/** A declared route without its type parameters. */
export interface Route
  extends Omit<
    Declaration<object, z.ZodType, z.ZodType, ReplyDeclaration>,
    'access' | 'handle' | 'stream' | 'exports'
  > {
  access: Access<object>;
  handle: (app: App, given: Given<object, unknown, unknown>) => Promise<unknown>;
  stream?: (app: App, given: Given<object, unknown, unknown>, out: EventStream) => Promise<void>;
  exports?: (app: App, given: Given<object, unknown, unknown>) => AsyncIterable<unknown[]>;
  audit?: Audited<object, unknown>;
}

/** Returns at which point a request waits for GitHub or a model; undefined if it does not. */
export function waitsOf({ waits, waitsFor = () => true }: Route, body: unknown): Route['waits'] {
  return waitsFor(body) ? waits : undefined;
}

/**
 * Declares one operation of the REST API. Validation, authorization, the reply, the OpenAPI document and
 * generated tests are derived from it.
 */
export function route<
  C extends object,
  const R extends ReplyDeclaration,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(declaration: Declaration<C, Q, B, R> & Effect<Given<C, Input<Q>, Input<B>>, Output<R>>): Route {
  return declaration as unknown as Route;
}
