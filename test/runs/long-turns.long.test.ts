import { randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { Message } from '../../src/llm/model.ts';
import { showEach } from '../../src/runs/taking-up/show-turns.ts';
import { listTurnSizes, readTurns } from '../../src/runs/taking-up/turn-store.ts';
import { openTalks } from '../support/talks.ts';

const { call, em, runsOf, shop, sql } = openTalks();

const messagesOf = (given: string, result: string): Message[] => [
  { role: 'assistant', content: 'x', toolCalls: [{ id: 'c', name: 'write_file', arguments: given }] },
  { role: 'tool', toolCallId: 'c', content: result },
];

/** Stores turns of a live run that all have the same messages. */
async function longRun(count: number, messages: Message[]) {
  const task = await shop().startedTask();
  const runId = (await runsOf(task))[0]?.id ?? '';
  await sql(
    `insert into run_turns (run_id, turn, messages, input_tokens, cached_input_tokens, output_tokens)
     select $1, n, $2, 0, 0, 0 from generate_series(0, $3 - 1) n`,
    [runId, JSON.stringify(messages), count],
  );
  return { task, runId };
}

test('a page of long turns ends after 5 MB, also of what is not shown, and leads to the next', async () => {
  const { runId } = await longRun(
    14,
    messagesOf(JSON.stringify({ content: 'a b '.repeat(50_000) }), 'c '.repeat(400_000)),
  );
  const turns: { turn: number; calls: { arguments: string; result: string }[] }[] = [];
  const links: (string | null)[] = [];
  for (let pages = 0; pages < 2; pages++) {
    const page = await call('GET', `/runs/${runId}/turns?limit=10&offset=${turns.length}`);
    turns.push(...page.body);
    links.push(page.headers.get('link'));
  }
  expect(turns.map(({ turn }) => turn)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].slice(0, turns.length));
  expect(turns).toHaveLength(10);
  expect(links[0]).toContain('offset=5>; rel="next"');
  expect(turns[0]?.calls[0]?.arguments).toHaveLength(100_000);
  const last = await call('GET', `/runs/${runId}/turns?limit=4&offset=10`);
  expect([last.body.length, last.headers.get('link')]).toEqual([4, expect.not.stringContaining('next')]);
});

test('turns after the end of a page are not read, and reasoning counts as read', async () => {
  const figures = { at: new Date(0), inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null };
  for (const [length, bytes, expected] of [
    [600_000, 700_000, 9],
    [1, 30_000_000, 4],
    [1, 1, 20],
  ] as const) {
    let read = 0;
    const turns = function* () {
      for (; read < 20; read++)
        yield { turn: read + 1, messages: messagesOf('{}', 'd '.repeat(length / 2)), bytes, ...figures };
    };
    expect(await showEach(turns(), 20, [])).toHaveLength(expected);
    expect(Math.min(read + 1, 20)).toBe(expected);
  }
});

test('few long turns are read together, and many short ones', async () => {
  const read = async (count: number, content: string) => {
    const { runId } = await longRun(count, messagesOf('{}', content));
    const rows: number[] = [];
    const counting = {
      query: async (text: string, values: unknown[]) => {
        const found = await em().query(text, values);
        rows.push(found.length);
        return found;
      },
    } as unknown as EntityManager;
    const turns: number[] = [];
    const sizes = await listTurnSizes(em(), runId);
    for await (const { turn } of readTurns(counting, runId, sizes.toReversed())) turns.push(turn);
    expect(turns).toEqual(Array.from({ length: count }, (_, i) => count - i));
    return rows;
  };
  expect(await read(4, randomBytes(100_000).toString('hex'))).toEqual([1, 1, 1, 1]);
  expect(await read(60, 'short')).toEqual([60]);
  expect(Math.max(...(await read(10, 'e '.repeat(1_000_000))))).toBeLessThan(5);
});

test('the handoff of a cancelled run tells of the last turns that fit', async () => {
  const { task } = await longRun(
    30,
    messagesOf(JSON.stringify({ path: 'a', content: 'f '.repeat(500_000) }), 'written'),
  );
  expect((await call('POST', `/tasks/${task}/cancel`)).status).toBe(200);
  const [{ summary }] = (await call('GET', `/tasks/${task}/handoffs`)).body.handoffs;
  expect(summary).toMatch(
    /^The run was cancelled\.\n\n30 turns of the model\.\n\nThe first 21 of them are not described here/,
  );
  expect(summary).toContain('Files changed:\n- a');
});
