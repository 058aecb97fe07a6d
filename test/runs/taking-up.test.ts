import type { EntityManager } from 'typeorm';
import { limitsOfService } from '../../src/domain/budget.ts';
import { failure } from '../../src/domain/run.ts';
import type { Message } from '../../src/llm/model.ts';
import { insertStep, listStepNames } from '../../src/runs/journal.ts';
import { copyConversation, runToTakeUp } from '../../src/runs/taking-up/take-up-store.ts';
import { insertTurn, listTurns } from '../../src/runs/taking-up/turn-store.ts';
import { getTask } from '../../src/tasks/store.ts';
import { lowerByTask } from '../../src/tasks/work-store.ts';
import { findContext, insertContext, updateContext } from '../../src/worker/turns.ts';
import { findStoredFiles } from '../../src/worker/workspace/stored-files.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns();
const { addRun, addTask, undone } = given;

// The order of the keys differs from that of jsonb, and the text is that of a server.
const turn = (n: number): Message[] => [
  {
    toolCalls: [{ id: `${n}`, name: 'read_file', arguments: '{"path":"a"}' }],
    role: 'assistant',
    content: `turn ${n}`,
  },
  { role: 'tool', toolCallId: `${n}`, content: '\u00e9 1e21' },
];
const opening: Message[] = [{ role: 'system', content: 'be good' }];

/** Stores a run that ended with its conversation, and a run of the same task that continues it. */
async function twoRuns(em: EntityManager, { steps = [] as string[], turns = 3, hasFiles = true } = {}) {
  const taskId = await addTask(em);
  const from = await addRun(em, { taskId, status: 'failed' });
  await insertContext(em, from, opening);
  await updateContext(em, from, { cut: { upTo: 2, summary: 'earlier' }, limitChars: 9000 });
  for (let n = 0; n < turns; n++)
    await insertTurn(em, from, n, {
      messages: turn(n),
      workspace: hasFiles ? Buffer.from(`files ${n}`) : null,
      usage: { inputTokens: 9, cachedInputTokens: 3, outputTokens: 1, costUsd: 0.5 },
    });
  for (const name of ['branch', 'branch repo_2', 'settings', 'discussion', ...steps])
    await insertStep(em, from, name, { of: name });
  return { from, to: await addRun(em, { taskId }) };
}

const rawTurns = async (em: EntityManager, runId: string) =>
  (await em.query('select messages::text from run_turns where run_id = $1 order by turn', [runId])).map(
    (row: { messages: string }) => row.messages,
  );

test('a conversation is copied byte by byte; work that was pushed begins from the branch', () =>
  undone(async (em) => {
    const { from, to } = await twoRuns(em, { steps: ['push'] });
    expect(await copyConversation(em, from, to)).toEqual({ turns: 3, filesSince: 3 });
    expect(await rawTurns(em, to)).toEqual(await rawTurns(em, from));
    expect(await findContext(em, to)).toEqual({ opening, cut: { upTo: 2, summary: 'earlier' }, limitChars: 9000 });
    expect(await findStoredFiles(em, to)).toEqual([]);
    expect(await listStepNames(em, to, '')).toEqual(['discussion']);
  }));

test('work that could not be pushed is kept, with the commits from which it began', () =>
  undone(async (em) => {
    const { from, to } = await twoRuns(em);
    expect(await copyConversation(em, from, to)).toEqual({ turns: 3, filesSince: 0 });
    expect((await findStoredFiles(em, to)).join()).toBe('files 0,files 1,files 2');
    expect((await listStepNames(em, to, '')).toSorted()).toEqual(['branch', 'branch repo_2', 'discussion']);
    const unchanged = await twoRuns(em, { hasFiles: false });
    await copyConversation(em, unchanged.from, unchanged.to);
    expect(await listStepNames(em, unchanged.to, 'branch')).toEqual([]);
  }));

test.each([
  ['has no turns', { turns: 0 }, ''],
  ['has lost its first turns', {}, 'delete from run_turns where run_id = $1 and turn < 2'],
  ['has lost its opening', {}, 'delete from run_contexts where run_id = $1'],
])('a conversation that %s is not continued', (_what, more, sql) =>
  undone(async (em) => {
    const { from, to } = await twoRuns(em, more);
    if (sql !== '') await em.query(sql, [from]);
    expect(await copyConversation(em, from, to)).toEqual({ turns: 0, filesSince: 0 });
    expect([await listTurns(em, to), await findContext(em, to)]).toEqual([[], undefined]);
  }));

test('only a retry after a limit continues the conversation, and only with the same agent', () =>
  undone(async (em) => {
    const [agent = '', other = ''] = given.agentIds;
    const used = failure('budget', 'the budget of 2 steps is used up (limit of the task)');
    const taskId = await addTask(em, { owner: agent });
    const id = await addRun(em, { taskId, agentId: agent, status: 'failed', failure: used });
    const next = async (kind: 'retry' | 'revise' | 'start') =>
      runToTakeUp(em, taskId, { kind, agentId: String((await getTask(em, taskId)).owner) });
    expect([await next('retry'), await next('revise'), await next('start')]).toEqual([id, null, null]);
    await em.query('update tasks set owner = $2 where id = $1', [taskId, other]);
    expect(await next('retry')).toBeNull();
    await em.query('update tasks set owner = $2 where id = $1', [taskId, agent]);
    await addRun(em, {
      taskId,
      agentId: agent,
      status: 'failed',
      failure: failure('gave_up', 'no'),
      createdAt: new Date(Date.now() + 1000),
    });
    expect(await next('retry')).toBeNull();
  }));

test('a subtask that its model created also has the budget of its parent', () =>
  undone(async (em) => {
    const service = limitsOfService({ runMinutes: 9, runSteps: 99, runTokens: 9999, runCostUsd: 9, dayCostUsd: 9 });
    const limitsOf = async (taskId: string) => {
      const { runSteps, runCostUsd } = await lowerByTask(em, taskId, service);
      return [runSteps, runCostUsd].map(({ value, setBy }) => `${value} ${setBy}`);
    };
    const parentId = await addTask(em, { budget: { steps: 5 } });
    const [user] = await em.query('select id from users limit 1');
    const byModel = await addTask(em, { parentId, budget: { costUsd: 2 } });
    const byPerson = await addTask(em, { parentId, createdBy: user.id });
    expect(await limitsOf(parentId)).toEqual(['5 task', '9 service']);
    expect(await limitsOf(byModel)).toEqual(['5 task', '2 task']);
    expect(await limitsOf(byPerson)).toEqual(['99 service', '9 service']);
  }));
