import { openTalks } from '../support/talks.ts';

const { call, ended, filesOf, rewind, runsOf, sql, talkedTask } = openTalks();

describe('a request that names no turn', () => {
  let task: string;
  let runId: string;
  beforeAll(async () => {
    ({ task, runId } = await talkedTask());
  });

  test.each<[string, string, (known: string) => object]>([
    ['an unknown run', 'runId', () => ({ runId: 'run_none', turn: 1 })],
    ['a missing run', 'runId', () => ({ turn: 1 })],
    ['a turn after the last', 'turn', (known) => ({ runId: known, turn: 4 })],
    ['turn 0', 'turn', (known) => ({ runId: known, turn: 0 })],
    ['half a turn', 'turn', (known) => ({ runId: known, turn: 1.5 })],
    ['a turn as text', 'turn', (known) => ({ runId: known, turn: '1' })],
    ['a turn beyond all numbers', 'turn', (known) => ({ runId: known, turn: 2_147_483_648 })],
    ['a text that is too long', 'text', (known) => ({ runId: known, turn: 1, text: 'x'.repeat(10_001) })],
    ['a text with a NUL', 'text', (known) => ({ runId: known, turn: 1, text: '\0' })],
  ])('%s is a 400 on %s', async (_what, field, body) => {
    const answer = await rewind(task, body(runId));
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, field]);
  });

  test('a run of another task is a 400', async () => {
    const other = await talkedTask();
    const answer = await rewind(task, { runId: other.runId, turn: 1 });
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([400, 'runId']);
  });
});

test.each([
  [
    'is done',
    `status = 'done'`,
    'Only a task that is in the backlog, ready or in review can be rewound; this one is done.',
  ],
  ['waits for subtasks', `status = 'waiting_on_subtasks'`, 'can be rewound; this one is waiting for its subtasks'],
  ['has no agent', 'owner = null', 'has no owner'],
])('a task that %s is a 409, and nothing changes', async (_what, change, message) => {
  const other = await talkedTask();
  await sql(`update tasks set ${change} where id = $1`, [other.task]);
  const answer = await rewind(other.task, { runId: other.runId, turn: 1 });
  expect([answer.status, answer.body.message]).toEqual([409, expect.stringContaining(message)]);
  expect(await runsOf(other.task)).toHaveLength(1);
});

test('a task with an unfinished run is a 409; of two people at once, one starts a run', async () => {
  const other = await talkedTask();
  const both = await Promise.all([1, 2].map((turn) => rewind(other.task, { runId: other.runId, turn })));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(await runsOf(other.task)).toHaveLength(2);
});

test.each([
  ['the turns are gone', 'delete from run_turns where run_id = $1', 2],
  ['the first turns are gone', 'delete from run_turns where run_id = $1 and turn < 1', 2],
  ['the opening is gone', 'delete from run_contexts where run_id = $1', 2],
  [
    'its files were dropped, because there were too many',
    `insert into run_steps (run_id, name, data) values ($1, 'files dropped', '{"turn":2}')`,
    2,
  ],
  [
    'an older version kept only newer files',
    `update run_turns set input_tokens = null, workspace = case turn when 2 then workspace end where run_id = $1`,
    2,
  ],
])('a turn is a 409 when %s, and nothing changes', async (_what, loss, turn) => {
  const other = await talkedTask();
  await sql(loss, [other.runId]);
  const answer = await rewind(other.task, { runId: other.runId, turn });
  expect([answer.status, answer.body.message]).toEqual([
    409,
    `The files of turn ${turn} of ${other.runId} are no longer kept. Choose a turn of a newer run.`,
  ]);
  expect(await runsOf(other.task)).toHaveLength(1);
  expect((await call('GET', `/tasks/${other.task}`)).body.status).toBe('ready');
});

test('the last turn of a run that an older version stored is still there', async () => {
  const other = await talkedTask();
  await sql(
    'update run_turns set input_tokens = null, workspace = case turn when 2 then workspace end where run_id = $1',
    [other.runId],
  );
  expect((await rewind(other.task, { runId: other.runId, turn: 3 })).status).toBe(200);
  // The copy has the same gap.
  const run = await ended(other.task);
  expect(await filesOf(run.id)).toBe('files 3');
  expect((await rewind(other.task, { runId: run.id, turn: 2 })).status).toBe(409);
});
