import type { RunRow } from '../../src/db/tables/run.ts';
import type { Message } from '../../src/llm/model.ts';
import { insertStep } from '../../src/runs/journal.ts';
import { findRun } from '../../src/runs/store.ts';
import { showEach } from '../../src/runs/taking-up/show-turns.ts';
import { copyConversation } from '../../src/runs/taking-up/take-up-store.ts';
import { getTask } from '../../src/tasks/store.ts';
import { readPlanning } from '../../src/worker/plan.ts';
import { findContext, updateContext } from '../../src/worker/turns.ts';
import type { Work } from '../../src/worker/work.ts';
import { openTalks } from '../support/talks.ts';

const { call, em, ended, filesOf, rewind, runsOf, shop, sql, talk, talkedTask } = openTalks();

test('a new run has the conversation and the files up to the turn, and costs nothing so far', async () => {
  const { task, runId } = await talkedTask();
  const answer = await rewind(task, { runId, turn: 2, text: 'Use tabs.' });
  expect([answer.status, answer.body.status, answer.body.runCount]).toEqual([200, 'in_progress', 2]);
  const [run, before] = await runsOf(task);
  expect(run).toMatchObject({
    kind: 'rewind',
    status: 'queued',
    steps: 0,
    costUsd: null,
    rewoundFrom: { runId, turn: 2 },
  });
  expect(before?.rewoundFrom).toBeNull();
  expect((await call('GET', `/runs/${run?.id}`)).body.rewoundFrom).toEqual({ runId, turn: 2 });
  const turns = (await call('GET', `/runs/${run?.id}/turns`)).body;
  const original = (await call('GET', `/runs/${runId}/turns`)).body;
  const free = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 };
  expect(turns).toEqual([
    { ...original[0], ...free },
    { ...original[1], ...free },
  ]);
  expect(await filesOf(run?.id ?? '')).toBe('files 1,files 2');
  const steps = await sql('select name, data from run_steps where run_id = $1 order by name', [run?.id]);
  expect(steps).toEqual([
    { name: 'conversation', data: { turns: 2, filesSince: 0 } },
    { name: 'discussion', data: { of: 'discussion' } },
    { name: 'earlier branch', data: { of: 'branch' } },
  ]);
});

test('turns are listed from 1 with their figures, in pages, with long results cut and credentials removed', async () => {
  const { runId } = await talkedTask();
  const long = `${'x'.repeat(9990)} sk-${'a1'.repeat(24)}`;
  await sql(`update run_turns set messages = $2 where run_id = $1 and turn = 2`, [
    runId,
    JSON.stringify([
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'run_command', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c', content: long },
      { role: 'user', content: 'a remark of the host' },
    ]),
  ]);
  const first = await call('GET', `/runs/${runId}/turns?limit=2`);
  expect(first.headers.get('link')).toContain('rel="next"');
  expect(first.body).toEqual(
    [1, 2].map((turn) => ({
      turn,
      at: expect.any(String),
      text: `turn ${turn}`,
      calls: [
        {
          name: 'write_file',
          arguments: `{"path":"${turn}"}`,
          result: turn === 2 ? 'Error: no' : 'written',
          ok: turn !== 2,
        },
      ],
      inputTokens: 100,
      cachedInputTokens: 40,
      outputTokens: 10,
      costUsd: 0.25,
    })),
  );
  const [third, ...none] = (await call('GET', `/runs/${runId}/turns?limit=2&offset=2`)).body;
  expect([third.turn, none]).toEqual([3, []]);
  expect(third.calls[0].result).toHaveLength(10_000);
  expect(third.calls[0].result).not.toContain('a1');
  for (const query of ['limit=0', 'limit=101', 'offset=-1'])
    expect((await call('GET', `/runs/${runId}/turns?${query}`)).status).toBe(400);
});

test('turns are shown without blocking the event loop, and without reading what is not shown', async () => {
  const token = `ghp_${'a'.repeat(36)}`;
  const call = { id: 'c', name: 'say', arguments: `{"text":"${token}"}` };
  const messages: Message[] = [
    {
      role: 'assistant',
      content: `It is ${token}.`,
      toolCalls: [call],
      get kept(): never {
        throw new Error('the reasoning is not shown');
      },
    },
    { role: 'tool', toolCallId: 'c', content: token },
  ];
  const figures = { at: new Date(0), inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: null };
  let isFree = false;
  const shown = showEach(
    [1, 2, 3].map((turn) => ({ turn, messages, bytes: 100, ...figures })),
    3,
    [],
  );
  setImmediate(() => {
    isFree = true;
  });
  const removed = '[a credential was removed]';
  const calls = [{ name: 'say', arguments: `{"text":"${removed}"}`, result: removed, ok: true }];
  expect(await shown).toEqual([1, 2, 3].map((turn) => ({ turn, text: `It is ${removed}.`, calls, ...figures })));
  expect(isFree).toBe(true);
});

test('prompts leave out what they left out at that turn', async () => {
  const { task, runId } = await talkedTask();
  const cut = { upTo: 2, summary: 'earlier' };
  await updateContext(em(), runId, { cut: { upTo: 5, summary: 'later' }, limitChars: 400 });
  await sql('update run_turns set learned = $2 where run_id = $1 and turn = 1', [
    runId,
    JSON.stringify({ cut, limitChars: 900 }),
  ]);
  const contexts = [];
  for (const turn of [1, 2, 3]) {
    await rewind(task, { runId, turn });
    contexts.push(await findContext(em(), (await ended(task)).id));
  }
  const opening = [{ role: 'system', content: 'be good' }];
  expect(contexts).toEqual([
    { opening, cut: undefined, limitChars: undefined },
    { opening, cut, limitChars: 900 },
    { opening, cut, limitChars: 900 },
  ]);
});

test('a plan counts if it was approved before the turn, and in a run that goes back again', async () => {
  const { task, runId } = await talkedTask();
  await sql(`update run_turns set at = now() - (10 - turn) * interval '1 hour' where run_id = $1`, [runId]);
  await sql(
    `insert into plans (id, task_id, run_id, markdown, files, checks, approved_at)
     values ('wait_1', $1, $2, '', '[]', '[]', now() - interval '8.5 hours')`,
    [task, runId],
  );
  const modeAfter = async (from: string, turn: number) => {
    await rewind(task, { runId: from, turn });
    const { id } = await ended(task);
    const run = (await findRun(em(), id)) as RunRow;
    const about = { run, task: await getTask(em(), task), settings: { plan: 'always' } };
    return { id, mode: (await readPlanning(em(), about as Work, async () => true)).mode };
  };
  // The turns ended 10, 9 and 8 hours ago.
  expect((await modeAfter(runId, 2)).mode).toBe('always');
  const after = await modeAfter(runId, 3);
  expect(after.mode).toBe('never');
  expect((await modeAfter(after.id, 3)).mode).toBe('never');
  expect((await modeAfter(after.id, 2)).mode).toBe('always');
});

test('a second rewind, also to a copied turn, needs only the latest run', async () => {
  const { task, runId } = await talkedTask();
  await rewind(task, { runId, turn: 2 });
  const second = await ended(task);
  await talk(second.id, 1, 3);
  await sql('delete from run_turns where run_id = $1', [runId]);
  expect((await rewind(task, { runId: second.id, turn: 4 })).status).toBe(400);
  expect((await rewind(task, { runId: second.id, turn: 1 })).status).toBe(200);
  const third = await ended(task);
  expect([await filesOf(third.id), third.rewoundFrom]).toEqual(['files 1', { runId: second.id, turn: 1 }]);
  expect((await rewind(task, { runId: second.id, turn: 3 })).status).toBe(200);
  expect(await filesOf((await ended(task)).id)).toBe('files 1,files 2,files 3');
});

test('the files of a turn that a retry copied are those of the run before it', async () => {
  const { task, runId } = await talkedTask();
  await insertStep(em(), runId, 'push', {});
  await sql(`update runs set status = 'failed', failure = $2 where id = $1`, [
    runId,
    JSON.stringify({ category: 'budget', message: 'used up', retryable: false }),
  ]);
  await shop().ask('POST', `/tasks/${task}/retry`);
  const retry = (await runsOf(task))[0]?.id ?? '';
  await insertStep(em(), retry, 'conversation', await copyConversation(em(), runId, retry));
  await talk(retry, 1, 4);
  await ended(task);
  expect((await rewind(task, { runId: retry, turn: 4 })).status).toBe(200);
  const own = await ended(task);
  expect(await filesOf(own.id)).toBe('files 4');
  // Turn 2 was copied twice, and its files are with the first run.
  expect((await rewind(task, { runId: own.id, turn: 2 })).status).toBe(200);
  expect(await filesOf((await ended(task)).id)).toBe('files 1,files 2');
  await sql('delete from run_turns where run_id = $1', [runId]);
  expect((await rewind(task, { runId: retry, turn: 2 })).status).toBe(409);
});
