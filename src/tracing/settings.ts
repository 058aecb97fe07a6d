import { z } from 'zod';

const address = z
  .string()
  .refine((s) => URL.canParse(s) && /^https?:$/.test(new URL(s).protocol), 'must be an http or https address');

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** `name=value` pairs, separated by commas, with percent-encoded values, as in W3C Baggage. */
const pairs = z.string().transform((text, ctx): Record<string, string> => {
  const entries = text.split(',').map((pair): [string, string | undefined] => {
    const at = pair.indexOf('=');
    return [pair.slice(0, Math.max(at, 0)).trim(), decoded(pair.slice(at + 1).trim())];
  });
  const isValid = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[0] !== '' && entry[1] !== undefined;
  if (entries.every(isValid)) return Object.fromEntries(entries);
  ctx.addIssue('must be name=value pairs, separated by commas, with percent-encoded values');
  return z.NEVER;
});

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const protocols = ['http/protobuf', 'http/json'] as const;

/** The settings of OpenTelemetry that count here, by the names and meanings of its specification. */
export const traceSettings = {
  OTEL_SDK_DISABLED: z
    .string()
    .transform((s) => s.toLowerCase() === 'true')
    .default(false),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: address.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(protocols, 'must be http/protobuf or http/json; OTLP over gRPC is not supported')
    .default('http/protobuf'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.default({}),
  OTEL_SERVICE_NAME: z.string().default('deckhand'),
  OTEL_RESOURCE_ATTRIBUTES: pairs.default({}),
  OTEL_TRACES_SAMPLER: z.enum(samplers, `must be one of ${samplers.join(', ')}`).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .transform(Number)
    .refine((n) => n >= 0 && n <= 1, 'must be a number from 0 to 1')
    .default(1),
};

export type TraceSettings = z.infer<z.ZodObject<typeof traceSettings>>;

/** Returns where spans are sent; undefined while tracing is off, as it is unless a setting says where or that it is on. */
export function traceTarget(settings: TraceSettings): string | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: exact } = settings;
  if (settings.OTEL_SDK_DISABLED || settings.OTEL_TRACES_EXPORTER === 'none') return undefined;
  if (exact !== undefined) return exact;
  if (base !== undefined) return `${base.replace(/\/+$/, '')}/v1/traces`;
  return settings.OTEL_TRACES_EXPORTER === 'otlp' ? 'http://localhost:4318/v1/traces' : undefined;
}
