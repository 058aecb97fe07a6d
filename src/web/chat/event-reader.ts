/** Reads server-sent events from the reply to a POST, which the browser's EventSource does not support. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader();
  let incomplete = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (incomplete + value).split('\n\n');
    incomplete = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const field = (name: string) =>
        lines.filter((l) => l.startsWith(`${name}: `)).map((l) => l.slice(name.length + 2));
      const data = field('data').join('\n');
      if (data !== '') yield { event: field('event')[0] ?? 'message', data };
    }
  }
}
