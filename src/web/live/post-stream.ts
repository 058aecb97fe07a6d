import { EventSourceParserStream } from 'eventsource-parser/stream';

/**
 * Sends a request whose reply is an event stream, and returns the data of its last event, `done`. `onEvent` receives the
 * others.
 * @throws the reply in the form of the generated client if the service refuses or fails
 */
export async function postStream<T>(
  address: string,
  body: object,
  onEvent: (name: string | undefined, data: { text?: string }) => void,
): Promise<T> {
  // `fetch` is used because the browser's EventSource cannot send a POST.
  const response = await fetch(`/api/v1${address}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify(body),
  });
  const isStream = response.headers.get('content-type')?.includes('event-stream');
  if (!response.ok || !isStream || response.body === null)
    throw { status: response.status, data: await response.json().catch(() => undefined) };
  for await (const { event, data } of eventsOf(response.body)) {
    const content = JSON.parse(data) as { text?: string; statusCode?: number };
    if (event === 'error') throw { status: content.statusCode ?? 502, data: content };
    if (event === 'done') return content as T;
    onEvent(event, content);
  }
  throw new Error('The connection was lost before the answer was complete.');
}

/** Yields the server-sent events of a reply. Uses a reader, because Safari cannot iterate over a stream. */
async function* eventsOf(body: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>;
  const reader = body.pipeThrough(decoder).pipeThrough(new EventSourceParserStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}
