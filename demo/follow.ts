import { EventSourceParserStream } from 'eventsource-parser/stream';

/** Calls `tell` with each event of a run, once and in order, until the run has ended. */
export async function followRun(
  { url, token }: { url: string; token: string },
  runId: string,
  tell: (event: { type: string; text: string }) => void,
): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, Accept: 'text/event-stream' };
  const response = await fetch(`${url}/api/v1/runs/${runId}/events`, { headers });
  if (!response.ok || response.body === null) throw new Error(`the run's event stream was answered ${response.status}`);
  const events = response.body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of events) {
    if (event === 'end') return;
    if (event !== 'delta') tell(JSON.parse(data) as { type: string; text: string });
  }
}
