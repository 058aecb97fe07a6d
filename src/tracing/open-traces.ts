import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as Api from '@opentelemetry/api';
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace';
import { type TraceSettings, traceTarget } from './settings.ts';
import {
  type Attributes,
  currentSpan,
  type LogIds,
  noTraces,
  type Span,
  type SpanKind,
  type Traces,
  within,
} from './traced.ts';

/** What happens to the sending of spans: the first failure, and the first success after it. */
type Sent = (error: Error | undefined) => void;

/** How long a process that stops waits until its last spans are sent. */
const closeMs = 5_000;

/**
 * Returns what records spans and sends them by OTLP. The packages of OpenTelemetry are loaded only if a setting turns
 * tracing on. Nothing global is set, so several services in one process do not disturb each other, and no package can
 * add spans of its own.
 */
export async function openTraces(settings: TraceSettings, version: string, onSent: Sent): Promise<Traces> {
  const url = traceTarget(settings);
  if (url === undefined) return noTraces;
  const [api, sdk, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      'service.version': version,
      'service.instance.id': randomUUID(),
      ...settings.OTEL_RESOURCE_ATTRIBUTES,
      'service.name': settings.OTEL_SERVICE_NAME,
    }),
    sampler: samplerOf(settings, sdk),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: tellingChanges(await exporterOf(settings, url), onSent) })],
  });
  const record = recorder(api, provider.getTracer('deckhand', version));
  return {
    begin: ({ name, kind, parent, ids = {}, attributes = {} }, work) => {
      const span = record(
        name,
        kind,
        { ...idsOf(ids), ...attributes },
        contextOf(api, parent ?? currentSpan()?.traceparent),
      );
      return within(span, ids, work);
    },
    close: async () => {
      const sent = provider.shutdown();
      sent.catch(() => {});
      await Promise.race([sent, sleep(closeMs, undefined, { ref: false })]);
    },
  };
}

function idsOf({ deliveryId, taskId, runId }: LogIds): Attributes {
  return { 'deckhand.delivery.id': deliveryId, 'deckhand.task.id': taskId, 'deckhand.run.id': runId };
}

async function exporterOf(settings: TraceSettings, url: string): Promise<SpanExporter> {
  // The time limit, compression and certificates are the package's own settings, which it reads by their usual names.
  const given = { url, headers: settings.OTEL_EXPORTER_OTLP_HEADERS };
  const { OTLPTraceExporter } =
    settings.OTEL_EXPORTER_OTLP_PROTOCOL === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter(given);
}

/** Reports when spans can no longer be sent, and when they can be sent again. OpenTelemetry itself says nothing. */
function tellingChanges(exporter: SpanExporter, onSent: Sent): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        if (hasFailed !== isFailing) onSent(hasFailed ? (result.error ?? new Error('no reason was given')) : undefined);
        isFailing = hasFailed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

type Sdk = typeof import('@opentelemetry/sdk-trace');

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: TraceSettings, sdk: Sdk): Sampler {
  const ofRatio = name.endsWith('traceidratio') ? ratio : 1;
  const root = new sdk.TraceIdRatioBasedSampler(name.endsWith('always_off') ? 0 : ofRatio);
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

const kinds: Record<SpanKind, Api.SpanKind> = { internal: 0, server: 1, client: 2, consumer: 4 };

/** Returns the context of a `traceparent`; an empty one if there is none, or if it is invalid. */
function contextOf(api: typeof Api, traceparent: string | undefined): Api.Context {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return api.ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags ?? '00', 16) & api.TraceFlags.SAMPLED;
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** Returns a function that begins spans. */
function recorder(api: typeof Api, tracer: Api.Tracer) {
  const begin = (name: string, kind: SpanKind, attributes: Attributes, parent: Api.Context): Span => {
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, parent);
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      traceId,
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      child: (name, kind, attributes) => begin(name, kind, attributes, api.trace.setSpan(api.ROOT_CONTEXT, span)),
      set: (more) => {
        span.setAttributes(more);
      },
      note: (event, about = {}) => {
        span.addEvent(event, about);
      },
      end: (failure) => {
        if (failure !== undefined) {
          span.setAttribute('error.type', kindOf(failure.error));
          span.setStatus({ code: api.SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  };
  return begin;
}

/** Names the kind of an error by its status, its code or its class. */
function kindOf(error: unknown): string {
  const { status, fault, code, name } = (error ?? {}) as Record<string, unknown>;
  return String(status ?? fault ?? code ?? name ?? 'unknown').slice(0, 100);
}
