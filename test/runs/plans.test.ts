import { newId } from '../../src/db/ids.ts';
import type { RunRow } from '../../src/db/tables/run.ts';
import { openJournal } from '../../src/runs/journal.ts';
import { park } from '../../src/runs/waiting/park.ts';
import { listUnread } from '../../src/runs/waiting/store.ts';
import { getTask } from '../../src/tasks/store.ts';
import { claimRun } from '../../src/worker/lease/lease-store.ts';
import { planSections, readPlanning } from '../../src/worker/plan.ts';
import type { Work } from '../../src/worker/work.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns();
const em = () => given.service.app.db.manager;
const call = (method: string, path: string, body?: unknown) =>
  given.service.call(method, path, { token: given.token, body });
const post = (run: RunRow, verb: string, body: object = {}) => call('POST', `/tasks/${run.taskId}/${verb}`, body);
const attentionOf = async (run: RunRow) => (await call('GET', `/tasks/${run.taskId}`)).body.attention;

afterEach(() => em().query('delete from tasks'));

const readAll = async () => true;

/** Claims the only run that can be claimed, and lets it wait with this plan. */
async function propose(markdown: string, files: string[] = ['src/**']): Promise<RunRow> {
  const run = (await claimRun(em(), 30))?.run as RunRow;
  const wait = {
    reason: 'plan' as const,
    text: markdown,
    options: [],
    plan: { markdown, files, checks: ['npm test'] },
  };
  const { app } = given.service;
  await openJournal(app, run).write((tx) => park(app, tx, run, { ...wait, id: newId('wait'), seconds: null }));
  return run;
}
const planningOf = async (run: RunRow) =>
  readPlanning(em(), { run, task: await getTask(em(), run.taskId), settings: { plan: 'always' } } as Work, readAll);

test('a plan waits with its text, is approved once, and the run carries it out', async () => {
  await given.addRun(em());
  const run = await propose('# The plan\n\n- one\n- two');
  expect(await attentionOf(run)).toMatchObject({ reason: 'plan', text: '# The plan\n\n- one\n- two', options: [] });
  expect(planSections(await planningOf(run)).join()).toContain('propose_plan');
  const approved = await post(run, 'approve');
  expect([approved.status, approved.body.attention, approved.body.status]).toEqual([200, null, 'in_progress']);
  const twice = await post(run, 'approve');
  expect([twice.status, twice.body.message]).toEqual([409, expect.stringContaining('this one waits for nobody')]);
  expect(await listUnread(em(), run.id)).toMatchObject([{ text: '[octocat approved the plan]\nCarry it out now.' }]);
  expect(await planningOf(run)).toMatchObject({ mode: 'never', approved: { files: ['src/**'], checks: ['npm test'] } });
});

test('a plan can be changed while it is approved; its agent and later runs get the changed one', async () => {
  await given.addRun(em());
  const run = await propose('# Mine\n\n- one');
  const changed = '# Mine\n\n- one\n- and two';
  expect((await post(run, 'approve', { plan: ' ' })).status).toBe(400);
  expect((await post(run, 'approve', { plan: 'x'.repeat(20_001) })).status).toBe(400);
  expect((await post(run, 'approve', { plan: changed })).status).toBe(200);
  expect((await listUnread(em(), run.id)).map(({ text }) => text)).toEqual([
    `[octocat changed the plan and approved it]\nThe plan is now as follows. Carry it out as it is here.\n\n${changed}`,
  ]);
  const planning = await planningOf(run);
  expect(planning.approved).toMatchObject({ markdown: changed, files: ['src/**'], isChanged: true });
  expect(planSections(planning).join()).toContain('A person changed this plan before they approved it.');
  expect(await em().query('select markdown, proposed from plans where run_id = $1', [run.id])).toEqual([
    { markdown: changed, proposed: '# Mine\n\n- one' },
  ]);
  const timeline = (await call('GET', `/tasks/${run.taskId}/timeline`)).body;
  expect(timeline.find((entry: { type: string }) => entry.type === 'approve')).toMatchObject({
    actor: { login: 'octocat' },
    text: changed,
    changes: { changedPlan: [null, changed] },
  });
});

test('a plan that is sent back unchanged counts as approved, and a change takes no plan', async () => {
  await given.addRun(em());
  const run = await propose('the plan');
  expect((await post(run, 'approve', { plan: 'the plan\n' })).status).toBe(200);
  expect(await planningOf(run)).toMatchObject({ approved: { markdown: 'the plan', isChanged: false } });
  await em().query(
    `update runs set status = 'waiting', wait_id = 'held', wait_reason = 'push', wait_text = '',
    wait_options = '[]', waiting_since = now() where id = $1`,
    [run.id],
  );
  const refused = await post(run, 'approve', { plan: 'another' });
  expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'plan']);
  await em().query(`update runs set status = 'queued' where id = $1`, [run.id]);
  expect((await post(run, 'approve', { plan: 'another' })).status).toBe(409);
});

test('revising a plan asks for another one, and the old one can no longer be approved', async () => {
  await given.addRun(em());
  const run = await propose('first');
  const old = await attentionOf(run);
  expect((await post(run, 'revise', { text: 'Smaller, please.' })).status).toBe(200);
  expect((await listUnread(em(), run.id)).map((m) => m.text)).toEqual([
    '[octocat asks for another plan]\nSmaller, please.\n\nCall propose_plan again.',
  ]);
  expect((await post(run, 'approve', { id: old.id })).status).toBe(409);
  await propose('second');
  const stale = await post(run, 'approve', { id: old.id });
  expect([stale.status, stale.body.message]).toEqual([409, 'This changed in the meantime; read the new one']);
  const fresh = await attentionOf(run);
  expect(fresh.text).toBe('second');
  expect((await post(run, 'approve', { id: fresh.id })).status).toBe(200);
  expect((await planningOf(run)).approved).toMatchObject({ markdown: 'second' });
});

test('of an approval and a revision at once, one counts and the other is refused', async () => {
  await given.addRun(em());
  const run = await propose('the plan');
  const both = await Promise.all([post(run, 'approve'), post(run, 'revise', { text: 'No.' })]);
  // A revision that comes too late is stored for the next run, as during any other live run.
  expect(both.map((b) => b.status)).toContain(200);
  expect(await listUnread(em(), run.id)).toHaveLength(1);
});

test('a plan takes no answer, pause or resume; cancel withdraws it', async () => {
  await given.addRun(em());
  const run = await propose('the plan');
  for (const [verb, body] of [
    ['answer', { text: '1' }],
    ['pause', {}],
    ['resume', {}],
  ] as const)
    expect([verb, (await post(run, verb, body)).status]).toEqual([verb, 409]);
  expect((await post(run, 'say', { text: 'I am reading it.' })).status).toBe(202);
  expect(await attentionOf(run)).toMatchObject({ reason: 'plan' });
  expect((await post(run, 'cancel')).status).toBe(200);
  expect((await post(run, 'approve')).status).toBe(409);
});

test('planFirst is set when a task is created or changed, but not during a run', async () => {
  const tasks = `/projects/${given.projectId}/tasks`;
  const made = (await call('POST', tasks, { title: 'x', planFirst: true })).body;
  expect(made.planFirst).toBe(true);
  expect((await call('PATCH', `/tasks/${made.id}`, { planFirst: null })).body.planFirst).toBeNull();
  expect((await call('POST', tasks, { title: 'y' })).body.planFirst).toBeNull();
  expect((await call('POST', tasks, { title: 'y', planFirst: 'yes' })).status).toBe(400);
  await given.addRun(em(), { taskId: made.id });
  expect((await call('PATCH', `/tasks/${made.id}`, { planFirst: false })).status).toBe(409);
});
