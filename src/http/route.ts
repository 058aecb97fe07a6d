import type { z } from 'zod';
import type { App } from '../app.ts';
import type { Access } from './access/access.ts';
import type { EventStream } from './events.ts';
import type { Costs } from './limits/rate-limit.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';

type Input<S extends z.ZodType | undefined> = S extends z.ZodType ? z.output<S> : undefined;
type Output<R extends Reply> = R extends readonly [number, infer S extends z.ZodType] ? z.input<S> : unknown;
export type Reply = readonly [number, z.ZodType] | readonly [204];

/** What a handler learns about the `Idempotency-Key` of its request. */
export interface Keyed {
  /** The same for every attempt at this request, in every process. */
  id: string;
  /** An earlier attempt ended without a reply, because of a crash for example. */
  isAgain: boolean;
}

/** The result of an earlier request. It is answered with 200, where the first one was answered with 201. */
export class Repeated<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/** The input of a handler. */
type Given<C, Q, B> = C & { query: Q; body: B; keyed?: Keyed | undefined };

interface Declaration<C, Q extends z.ZodType | undefined, B extends z.ZodType | undefined, R extends Reply> {
  /** Names the operation in OpenAPI and its function in the generated client: `startTask`. Unique among all routes. */
  operationId: string;
  method: Method;
  /** Relative to /api/v1, with `:name` for parameters. */
  path: string;
  summary: string;
  tag: string;
  access: Access<C>;
  query?: Q;
  body?: B;
  /** Status and shape of a success. The reply is parsed by the shape, so properties it does not name are not sent. */
  reply: R;
  /** Further statuses and their reasons, besides those of every route (400, 401, 403, 404). */
  errors?: Record<number, string>;
  /** Describes the 200 of a repeated request, for which the handler returns `Repeated`. */
  repeats?: string;
  /** The reply contains a secret, so it is not stored for repetitions with the same Idempotency-Key. */
  isSecret?: boolean;
  /** The request also counts against this stricter limit. */
  costs?: Costs;
  /**
   * When the handler waits for GitHub or a model. With an `Idempotency-Key` the reply is stored in the same transaction as
   * what the handler writes, and no transaction may stay open during a slow call:
   * - absent: never. The whole handler is one transaction.
   * - `before it writes`: the handler's first `transaction` also stores the reply, and nothing slow follows it. Statements
   *   before it are committed one by one, so repeating them must be harmless.
   * - `between writes`: the reply is stored in a transaction of its own, afterwards. After a crash a repetition runs the
   *   handler again, with `keyed.isAgain`, and the handler must find what was already done.
   */
  waits?: 'before it writes' | 'between writes';
  /** The handler returns up to `limit + 1` rows; the server removes the last one and sets the `Link` header. */
  paged?: boolean;
  handle: (app: App, given: Given<C, Input<Q>, Input<B>>) => Promise<Output<R> | Repeated<Output<R>>>;
  /** Answers instead if the caller accepts `text/event-stream`. `streams` describes the events. */
  stream?: (app: App, given: Given<C, Input<Q>, Input<B>>, out: EventStream) => Promise<void>;
  streams?: string;
  /** The route always answers with the stream. */
  isStream?: boolean;
}

/** A declared route without its type parameters. */
export interface Route extends Omit<Declaration<object, z.ZodType, z.ZodType, Reply>, 'access' | 'handle' | 'stream'> {
  access: Access<object>;
  handle: (app: App, given: Given<object, unknown, unknown>) => Promise<unknown>;
  stream?: (app: App, given: Given<object, unknown, unknown>, out: EventStream) => Promise<void>;
}

/**
 * Declares one operation of the REST interface. Validation, authorisation, the reply, the OpenAPI document and generated
 * tests are derived from it.
 */
export function route<
  C extends object,
  const R extends Reply,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(declaration: Declaration<C, Q, B, R>): Route {
  return declaration as unknown as Route;
}
