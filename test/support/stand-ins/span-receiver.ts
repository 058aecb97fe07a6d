import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a receiver of OTLP gets it. */
export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentId: string;
  /** The process that it comes from. */
  instance: string;
  kind: number;
  isFailed: boolean;
  attributes: Record<string, unknown>;
  events: string[];
}

interface Value {
  stringValue?: string;
  intValue?: number | string;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
}

interface Attribute {
  key: string;
  value: Value;
}

interface Body {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        name: string;
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        kind: number;
        status?: { code?: number };
        attributes: Attribute[];
        events: { name: string }[];
      }[];
    }[];
  }[];
}

function contentOf({ stringValue, intValue, boolValue, arrayValue }: Value): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(contentOf);
  return stringValue ?? boolValue ?? (intValue === undefined ? undefined : Number(intValue));
}

function recordOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, contentOf(value)]));
}

function spansIn({ resourceSpans }: Body): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId = '', kind, status, attributes, events }) => ({
        name,
        traceId,
        spanId,
        parentId: parentSpanId,
        instance: String(recordOf(resource.attributes)['service.instance.id']),
        kind,
        isFailed: status?.code === 2,
        attributes: recordOf(attributes),
        events: events.map((event) => event.name),
      })),
    ),
  );
}

/** Starts a receiver of traces, which understands OTLP as JSON and keeps what arrives as text, too. */
export async function startSpanReceiver() {
  const receiver = {
    url: '',
    status: 200,
    spans: [] as ReceivedSpan[],
    requests: [] as { path: string; headers: IncomingHttpHeaders; text: string }[],
    /** Returns the only span of this name. */
    named(name: string): ReceivedSpan {
      const found = receiver.spans.filter((span) => span.name === name);
      if (found.length !== 1) throw new Error(`${found.length} spans are named ${name}`);
      return found[0] as ReceivedSpan;
    },
    close: async () => {},
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { headers, url: path = '' } = request;
    receiver.requests.push({ path, headers, text });
    if (receiver.status === 200 && headers['content-type'] === 'application/json')
      receiver.spans.push(...spansIn(JSON.parse(text)));
    response.writeHead(receiver.status, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  receiver.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return receiver;
}
