import { eventsIn } from '../../src/llm/events.ts';

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function read(...texts: string[]): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of eventsIn(pieces(...texts))) events.push(event);
  return events;
}

const costly = `[${'[1],'.repeat(10_000)}1]`;
const lines = costly.replaceAll(',', ',\ndata: ');

// A parser of events ends lines at carriage returns too, and leaves out comments and a byte order mark.
test.each([
  ['plainly', [`data: ${costly}\n\n`]],
  ['behind a comment with a quote', [`: "\ndata: ${costly}\n\n`]],
  ['behind a comment that a carriage return ends', [`: "\rdata: ${costly}\n\n`]],
  ['behind a name with a quote', [`event: "\r\ndata:${costly}\n\n`]],
  ['between comments', [`data: ${lines.replace('\n', '\n: "\n')}\n\n`]],
  ['between pieces', ['da', 'ta: [\n:', ' "', `\nda`, `ta:${costly}]\n\n`]],
  ['after a byte order mark', [`\ufeffdata: ${costly}\n\n`]],
  ['at the end', [`data: ${costly}`]],
])('too many values %s in an event are refused before they are parsed', async (_where, texts) => {
  await expect(read(...texts)).rejects.toMatchObject({ name: 'AnswerRefused', what: 'holds more than 10000 values' });
});

test('an event that is nested too deeply is refused', async () => {
  await expect(read(`: "\ndata: ${'['.repeat(101)}\n\n`)).rejects.toMatchObject({
    what: 'is nested more than 100 deep',
  });
});

test('comments, ids and texts are no values', async () => {
  const text = costly.replaceAll('"', '');
  const event = `: ${costly}\nid: ${costly}\ndata: ${JSON.stringify({ text })}\n\n`;
  expect(await read(event, event)).toEqual([{ text }, { text }]);
});
