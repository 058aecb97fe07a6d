import { payingForLost } from '../../src/llm/lost.ts';
import type { Tokens } from '../../src/llm/model.ts';
import { key, modelsAt, opening } from './models.ts';
import { chunk } from './scripted.ts';
import { type Answer, type Served, serve } from './servers/serve.ts';

let served: Served;
let answers: Answer[] = [];
beforeAll(async () => {
  served = await serve(() => answers.shift() ?? { status: 400, json: { error: { message: 'no more' } } });
});
afterAll(() => served.close());

/** Asks for an answer, with a signal that is aborted when its first text arrives. Returns what has to be paid. */
async function paidFor(script: Answer[], signal = new AbortController()): Promise<Tokens[]> {
  answers = script;
  const paid: Tokens[] = [];
  const model = modelsAt(served.url, { api: 'chat' }).withKey('m', key);
  const paying = payingForLost(model, async (tokens) => void paid.push(tokens));
  await paying
    .reply(opening, [], signal.signal, { onText: () => signal.abort(), onRestart: () => {} })
    .catch(() => undefined);
  return paid;
}

const begun = chunk({ content: 'Forty characters of an answer, no more. ' });

test('an answer that nobody waits for any more is paid for, as far as it got', async () => {
  const [lost, ...more] = await paidFor([{ events: [begun], ending: 'silence' }]);
  expect(lost).toMatchObject({ outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0 });
  expect(lost?.inputTokens).toBeGreaterThan(20);
  expect(more).toEqual([]);
});

test('each stream that breaks is paid for', async () => {
  const silent = { ...new AbortController(), abort: () => {}, signal: new AbortController().signal };
  const paid = await paidFor(
    [
      { events: [begun], ending: 'break' },
      { events: [begun], ending: 'break' },
    ],
    silent,
  );
  expect(paid.map(({ outputTokens }) => outputTokens)).toEqual([10, 10]);
});

test('what the server refuses, or was never asked, costs nothing', async () => {
  expect(await paidFor([{ status: 400, json: { error: { message: 'no' } } }])).toEqual([]);
  expect(await paidFor([{ json: { error: { message: 'no such model', code: 404 } } }])).toEqual([]);
  const aborted = new AbortController();
  aborted.abort();
  expect(await paidFor([{ events: [begun], ending: 'silence' }], aborted)).toEqual([]);
});

test('an answer that arrives is paid for by the caller only', async () => {
  const silent = { ...new AbortController(), abort: () => {}, signal: new AbortController().signal };
  expect(await paidFor([{ events: [begun, chunk({}, 'stop'), '[DONE]'] }], silent)).toEqual([]);
});
