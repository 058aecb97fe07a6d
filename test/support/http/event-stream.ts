/** One message of a stream. A message may have only an id, which parsers of events leave out. */
interface Heard {
  id?: string;
  event?: string;
  data?: { id?: string; status?: string };
}

export const named = (heard: Heard[], event: string) => heard.filter((h) => h.event === event);

/** Opens an event stream of the service and collects its messages until it ends or `stop` is called. */
export async function openEventStream(url: string, token: string, headers: Record<string, string> = {}) {
  const stop = new AbortController();
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream', ...headers },
    signal: stop.signal,
  });
  const heard: Heard[] = [];
  let isEnded = false;
  const reading = response.ok
    ? collect(response, heard)
        .catch(() => {})
        .finally(() => {
          isEnded = true;
        })
    : Promise.resolve();
  return {
    status: response.status,
    heard,
    isEnded: () => isEnded,
    stop: async () => {
      stop.abort();
      await reading;
    },
  };
}

async function collect(response: Response, heard: Heard[]): Promise<void> {
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString('utf8');
    for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
      heard.push(messageOf(text.slice(0, at)));
      text = text.slice(at + 2);
    }
  }
}

function messageOf(text: string): Heard {
  const lines = text.split('\n').filter((line) => !line.startsWith(':'));
  const fields = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2)));
  return fields.data === undefined ? fields : { ...fields, data: JSON.parse(fields.data) };
}
