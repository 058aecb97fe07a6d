import { AsyncLocalStorage } from 'node:async_hooks';

/** What is known about a span. Never texts of people, models or repositories, and never credentials. */
export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

export type SpanKind = 'internal' | 'server' | 'client' | 'consumer';

/** A part of a trace that has begun. */
export interface Span {
  traceId: string;
  /** The span as another process continues it (W3C Trace Context). */
  traceparent: string;
  child(name: string, kind: SpanKind, attributes: Attributes): Span;
  set(attributes: Attributes): void;
  /** Adds an event at this time. */
  note(event: string, attributes?: Attributes): void;
  /** Ends the span. Of an error, only its kind is recorded: its message may contain what people wrote. */
  end(failure?: { error: unknown }): void;
}

/** The ids that each line of the log has while something is done for them. */
export interface LogIds {
  deliveryId?: string | undefined;
  taskId?: string | undefined;
  runId?: string | undefined;
}

export interface Beginning {
  name: string;
  kind: SpanKind;
  /** The `traceparent` of what caused this. Without it, the span continues the current trace or begins one. */
  parent?: string | null | undefined;
  ids?: LogIds;
  attributes?: Attributes;
}

/** Begins traces and continues those of other processes. */
export interface Traces {
  /** Does some work in a span. */
  begin<T>(beginning: Beginning, work: () => Promise<T>): Promise<T>;
  /** Sends the spans that have ended. */
  close(): Promise<void>;
}

interface Current {
  ids: LogIds;
  span: Span | undefined;
}

const storage = new AsyncLocalStorage<Current>();

/** A property of errors: for what they were thrown, because they may be logged where that is over. */
const thrownFor = Symbol('thrown for');

/** Does some work in a span, which ends with it, and for the ids of a beginning. */
export async function within<T>(span: Span | undefined, ids: LogIds = {}, work: () => Promise<T>): Promise<T> {
  const current = { ids: { ...storage.getStore()?.ids, ...ids }, span };
  try {
    const result = await storage.run(current, work);
    span?.end();
    return result;
  } catch (error) {
    if (error instanceof Error && !(thrownFor in error) && Object.isExtensible(error))
      Object.defineProperty(error, thrownFor, { value: fieldsOf(current) });
    span?.end({ error });
    throw error;
  }
}

/** What `Traces` does while tracing is off. Lines of the log have their ids all the same. */
export const noTraces: Traces = {
  begin: ({ ids }, work) => within(undefined, ids, work),
  close: async () => {},
};

/** Sets attributes of the span that `traced` has begun. */
export type Describe = (attributes: Attributes) => void;

/** Does some work in a span of its own, if it belongs to a trace. Otherwise nothing is recorded. */
export function traced<T>(
  name: string,
  attributes: Attributes,
  work: (describe: Describe) => Promise<T>,
  kind: SpanKind = 'internal',
): Promise<T> {
  const parent = storage.getStore()?.span;
  if (parent === undefined) return work(() => {});
  const span = parent.child(name, kind, attributes);
  return within(span, {}, () => work((more) => span.set(more)));
}

/** Returns the span in which the current work is done, if it belongs to a trace. */
export function currentSpan(): Span | undefined {
  return storage.getStore()?.span;
}

/** Returns what each line of the log says about the current work. */
export function logFields(): LogIds & { traceId?: string } {
  return fieldsOf(storage.getStore());
}

/** Returns what a line of the log says about the work in which an error was thrown, if that is known. */
export function logFieldsOf(error: unknown): LogIds & { traceId?: string } {
  return (error as { [thrownFor]?: ReturnType<typeof logFields> } | undefined)?.[thrownFor] ?? {};
}

function fieldsOf({ ids, span }: Partial<Current> = {}): LogIds & { traceId?: string } {
  return { ...ids, ...(span === undefined ? {} : { traceId: span.traceId }) };
}
