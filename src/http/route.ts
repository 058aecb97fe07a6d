import type { z } from 'zod';
import type { App } from '../app.ts';
import type { Access } from './access.ts';
import type { EventStream } from './events.ts';
import type { Costs } from './rate-limit.ts';

export type Method = 'get' | 'post' | 'patch' | 'delete';

type Input<S extends z.ZodType | undefined> = S extends z.ZodType ? z.output<S> : undefined;
type Output<R extends Reply> = R extends readonly [number, infer S extends z.ZodType] ? z.input<S> : unknown;
export type Reply = readonly [number, z.ZodType] | readonly [204];

/** The reply of an earlier request, given again: 200, where the first one was 201. */
export class Repeated<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

interface Declaration<C, Q extends z.ZodType | undefined, B extends z.ZodType | undefined, R extends Reply> {
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
  /** The handler answers up to `limit + 1` rows; the server cuts the last and makes the `Link` header. */
  paged?: boolean;
  handle: (app: App, given: C & { query: Input<Q>; body: Input<B> }) => Promise<Output<R> | Repeated<Output<R>>>;
  /** Answers instead when the caller asks for `text/event-stream`; the events it sends are described in `streams`. */
  stream?: (app: App, given: C & { query: Input<Q>; body: Input<B> }, out: EventStream) => Promise<void>;
  streams?: string;
  /** There is nothing but the stream, whatever the caller accepts. */
  isStream?: boolean;
}

/** A declared route, its types folded away. */
export interface Route extends Omit<Declaration<object, z.ZodType, z.ZodType, Reply>, 'access' | 'handle' | 'stream'> {
  access: Access<object>;
  handle: (app: App, given: object & { query: unknown; body: unknown }) => Promise<unknown>;
  stream?: (app: App, given: object & { query: unknown; body: unknown }, out: EventStream) => Promise<void>;
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
