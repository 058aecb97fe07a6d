import type { z } from 'zod';
import type { App } from '../app.ts';
import type { Access } from './access/access.ts';
import type { EventStream } from './events.ts';
import type { Costs } from './limits/rate-limit.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';

type Input<S extends z.ZodType | undefined> = S extends z.ZodType ? z.output<S> : undefined;
type Output<R extends Reply> = R extends readonly [number, infer S extends z.ZodType] ? z.input<S> : unknown;
export type Reply = readonly [number, z.ZodType] | readonly [204];

/** What a handler may know of the `Idempotency-Key` that it is called with. */
export interface Keyed {
  /** The same for every attempt at this request, whichever process makes it. */
  id: string;
  /** An earlier attempt was cut off before it could answer, by a crash say. */
  isAgain: boolean;
}

/** The reply of an earlier request, given again: 200, where the first one was 201. */
export class Repeated<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/** What a handler is given. */
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
  /** Success status and shape. The reply is parsed by the shape, so what it does not name is not sent. */
  reply: R;
  /** Statuses besides the ones that every route can give (400, 401, 403, 404), with the reason. */
  errors?: Record<number, string>;
  /** What a repetition means that is answered with 200 and the same shape; the handler gives `Repeated`. */
  repeats?: string;
  /** The reply holds a secret, so it is not kept for a repetition with the same Idempotency-Key. */
  isSecret?: boolean;
  /** Counts against a stricter limit as well. */
  costs?: Costs;
  /**
   * When the handler of a POST waits for GitHub or a model. With an `Idempotency-Key` the reply is stored in the same
   * transaction as what the handler writes, and a transaction must not stay open while something slow is asked:
   * - absent: never; the whole handler is one transaction.
   * - `before it writes`: the handler's first `transaction` begins the one that stores the reply, and nothing slow
   *   follows. Statements before it stand alone, so repeating them must be harmless.
   * - `between writes`: there is no such transaction; the reply is stored afterwards. A repetition after a crash runs the
   *   handler once more, with `keyed.isAgain`, and must find what was done.
   */
  waits?: 'before it writes' | 'between writes';
  /** The handler answers up to `limit + 1` rows; the server cuts the last and makes the `Link` header. */
  paged?: boolean;
  handle: (app: App, given: Given<C, Input<Q>, Input<B>>) => Promise<Output<R> | Repeated<Output<R>>>;
  /** Answers instead when the caller asks for `text/event-stream`; the events it sends are described in `streams`. */
  stream?: (app: App, given: Given<C, Input<Q>, Input<B>>, out: EventStream) => Promise<void>;
  streams?: string;
  /** There is nothing but the stream, whatever the caller accepts. */
  isStream?: boolean;
}

/** A declared route, its types folded away. */
export interface Route extends Omit<Declaration<object, z.ZodType, z.ZodType, Reply>, 'access' | 'handle' | 'stream'> {
  access: Access<object>;
  handle: (app: App, given: Given<object, unknown, unknown>) => Promise<unknown>;
  stream?: (app: App, given: Given<object, unknown, unknown>, out: EventStream) => Promise<void>;
}

/**
 * Declares one operation of the REST interface: from it come validation, authorisation, the reply, the OpenAPI
 * document and the generated tests.
 */
export function route<
  C extends object,
  const R extends Reply,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(declaration: Declaration<C, Q, B, R>): Route {
  return declaration as unknown as Route;
}
