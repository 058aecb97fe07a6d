import { Parked } from '../../src/conversation/ending.ts';
import { newId } from '../../src/db/ids.ts';
import type { RunRow } from '../../src/db/tables/run.ts';
import type { NewWait } from '../../src/domain/waiting.ts';
import { openJournal } from '../../src/runs/journal.ts';
import { endRun } from '../../src/runs/store.ts';
import { pauseRun, resumeRun } from '../../src/runs/waiting/operations.ts';
import { park } from '../../src/runs/waiting/park.ts';
import { listWaitingRevisions } from '../../src/tasks/work-store.ts';
import { claimRun } from '../../src/worker/lease/lease-store.ts';
import { readElapsedMs } from '../../src/worker/lease/run-clock.ts';
import { cancelExpiredWaits } from '../../src/worker/lease/work-on-runs.ts';
import { openMessageInbox, pauseIfAsked } from '../../src/worker/waits.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns({ WAIT_DAYS: '2' });
const app = () => given.service.app;
const em = () => app().db.manager;
const call = (method: string, path: string, body?: unknown) =>
  given.service.call(method, path, { token: given.token, body });
const taskOf = async (taskId: string) => (await call('GET', `/tasks/${taskId}`)).body;
const logOf = async (runId: string): Promise<{ type: string; text: string }[]> =>
  (await call('GET', `/runs/${runId}/events`)).body;
const rowOf = async (runId: string): Promise<RunRow> => em().findOneByOrFail('runs', { id: runId }) as Promise<RunRow>;

afterEach(() => em().query('delete from tasks'));

async function queued(): Promise<RunRow> {
  return rowOf(await given.addRun(em()));
}
async function running(): Promise<RunRow> {
  await queued();
  return (await claimRun(em(), 30))?.run as RunRow;
}
const journalOf = (run: RunRow) => openJournal(app(), run);
/** Parks a running run, as its worker does. */
async function parked(run: RunRow, wait: NewWait): Promise<RunRow> {
  await journalOf(run).write((em) => park(app(), em, run, { ...wait, id: newId('wait'), seconds: null }));
  return run;
}
/** A run that asked this question. */
const asking = async (options: string[] = []) =>
  parked(await running(), { reason: 'question', text: 'Which one?', options });
const heardBy = async (run: RunRow) =>
  (await openMessageInbox(app(), run, journalOf(run)).readUnread()).map((m) => m.content);
const act = (run: RunRow) => ({ taskId: run.taskId, userId: 'nobody' });

test('a queued run pauses at once, and waits until somebody resumes it', async () => {
  const run = await queued();
  const paused = await call('POST', `/tasks/${run.taskId}/pause`);
  expect(paused.status).toBe(200);
  expect(paused.body).toMatchObject({
    status: 'in_progress',
    attention: { id: expect.stringMatching(/^wait_/), reason: 'paused', text: 'Paused by octocat.', options: [] },
  });
  expect(await claimRun(em(), 30)).toBeUndefined();
  const again = await call('POST', `/tasks/${run.taskId}/pause`);
  expect([again.status, again.body.attention.id]).toEqual([200, paused.body.attention.id]);
  const resumed = await call('POST', `/tasks/${run.taskId}/resume`);
  expect([resumed.status, resumed.body.attention]).toEqual([200, null]);
  expect((await claimRun(em(), 30))?.run.id).toBe(run.id);
  expect((await logOf(run.id)).map((e) => e.text)).toEqual(['waiting: Paused by octocat.', 'octocat resumed the run']);
});

test('nobody steers a benchmark, whose result would be that of people', async () => {
  const run = await running();
  await em().query(`update runs set kind = 'trial' where id = $1`, [run.id]);
  const bodies = { say: { text: 'the solution' }, revise: { text: 'the solution' }, pause: {}, resume: {} };
  for (const [verb, body] of Object.entries(bodies)) {
    const { status, body: said } = await call('POST', `/tasks/${run.taskId}/${verb}`, body);
    expect([verb, status, said.message]).toEqual([
      verb,
      409,
      expect.stringContaining('A benchmark runs without people'),
    ]);
  }
  expect(await heardBy(run)).toEqual([]);
});

test('the wait before its first start does not count for the clock of a run', async () => {
  const run = await queued();
  await call('POST', `/tasks/${run.taskId}/pause`);
  await given.set(em(), run.id, { waiting_since: `now() - interval '1 hour'` });
  await call('POST', `/tasks/${run.taskId}/resume`);
  const started = (await claimRun(em(), 30))?.run as RunRow;
  expect(await readElapsedMs(em(), started.id)).toBeGreaterThanOrEqual(0);
});

test('a pause of a run that was just resumed counts both waits', async () => {
  const run = await running();
  await call('POST', `/tasks/${run.taskId}/pause`);
  await expect(pauseIfAsked(app(), run, journalOf(run))).rejects.toThrow(Parked);
  await given.set(em(), run.id, { waiting_since: `now() - interval '1 hour'` });
  await call('POST', `/tasks/${run.taskId}/resume`);
  await call('POST', `/tasks/${run.taskId}/pause`);
  await given.set(em(), run.id, { waiting_since: `now() - interval '1 hour'` });
  await call('POST', `/tasks/${run.taskId}/resume`);
  const again = (await claimRun(em(), 30))?.run as RunRow;
  expect(again.waitedSeconds).toBeGreaterThanOrEqual(7200);
});

/** What the API says of a run, singly and in the list of its task. */
async function pausing({ id, taskId }: RunRow): Promise<boolean[]> {
  const [listed] = (await call('GET', `/tasks/${taskId}/runs`)).body;
  return [(await call('GET', `/runs/${id}`)).body.pausing, listed.pausing];
}

test('a running run pauses before its next turn, and frees its worker', async () => {
  const run = await running();
  const asked = await call('POST', `/tasks/${run.taskId}/pause`);
  expect([asked.status, asked.body.attention]).toEqual([200, null]);
  expect((await call('POST', `/tasks/${run.taskId}/pause`)).status).toBe(200);
  expect(await pausing(run)).toEqual([true, true]);
  await expect(openMessageInbox(app(), run, journalOf(run)).readUnread()).rejects.toThrow(Parked);
  expect(await taskOf(run.taskId)).toMatchObject({ attention: { reason: 'paused', text: 'Paused by octocat.' } });
  expect(await rowOf(run.id)).toMatchObject({ status: 'waiting', leaseUntil: null, pauseText: null });
  expect(await pausing(run)).toEqual([false, false]);
  expect((await logOf(run.id)).map((e) => e.text)).toEqual(['octocat paused the run', 'waiting: Paused by octocat.']);
});

test('everybody who watches a run hears that it is to pause, and the pause can be withdrawn before it begins', async () => {
  const run = await running();
  const events = () => em().query('select id from project_events where object_id = $1', [run.id]);
  const before = await events();
  await call('POST', `/tasks/${run.taskId}/pause`);
  expect(await events()).toHaveLength(before.length + 1);
  expect((await call('POST', `/tasks/${run.taskId}/resume`)).status).toBe(200);
  expect(await openMessageInbox(app(), run, journalOf(run)).readUnread()).toEqual([]);
  expect((await call('POST', `/tasks/${run.taskId}/resume`)).status).toBe(409);
});

test('pause and resume are refused where nothing can be paused or resumed, with the reason', async () => {
  const run = await running();
  const resume = () => call('POST', `/tasks/${run.taskId}/resume`);
  expect((await resume()).body.message).toBe('Only a task that is paused can be resumed; this one waits for nobody.');
  await endRun(em(), run.id, 'succeeded', null);
  for (const verb of ['pause', 'resume']) expect((await call('POST', `/tasks/${run.taskId}/${verb}`)).status).toBe(409);
});

test('a resume that was written before the pause began does not count', async () => {
  const run = await queued();
  await call('POST', `/tasks/${run.taskId}/pause`);
  const since = (await rowOf(run.id)).waitingSince?.getTime() ?? 0;
  const old = { ...act(run), writtenAt: new Date(since - 5000) };
  await expect(resumeRun(app(), old)).rejects.toThrow('This changed in the meantime; read the new one');
  // GitHub gives times in whole seconds, so a comment in the same second counts.
  const writtenAt = new Date(Math.floor(since / 1000) * 1000);
  await expect(resumeRun(app(), { ...act(run), writtenAt })).resolves.toMatchObject({ attention: null });
});

test('a paused run cannot continue once the project cannot use its agent', async () => {
  const token = await given.service.token('hubot');
  const made = await given.service.call('POST', '/agents', { token, body: { name: 'Mine' } });
  const agentId: string = made.body.id;
  const members = `/projects/${given.projectId}/members`;
  const { userId } = (await call('POST', members, { login: 'hubot' })).body;
  const run = await rowOf(await given.addRun(em(), { agentId }));
  await call('POST', `/tasks/${run.taskId}/pause`);
  await call('DELETE', `${members}/${userId}`);
  const refused = await call('POST', `/tasks/${run.taskId}/resume`);
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('creator has left')]);
});

test('a paused run continues with its agent, although there is a newer version of it', async () => {
  const run = await queued();
  await call('POST', `/tasks/${run.taskId}/pause`);
  expect((await call('POST', `/agents/${run.agentId}/evolve`, { improvements: ['Be brief.'] })).status).toBe(201);
  expect((await call('POST', `/tasks/${run.taskId}/resume`)).status).toBe(200);
});

test('what people say is read before the next turn, once', async () => {
  const run = await running();
  for (const text of ['Use tabs.', 'And no semicolons.'])
    expect(await call('POST', `/tasks/${run.taskId}/say`, { text })).toMatchObject({ status: 202, body: {} });
  // A worker that stops before the turn is stored leaves the words to the next one.
  await openMessageInbox(app(), run, journalOf(run)).readUnread();
  const hearing = openMessageInbox(app(), run, journalOf(run));
  expect((await hearing.readUnread()).map((m) => m.content)).toEqual([
    '[octocat says]\nUse tabs.',
    '[octocat says]\nAnd no semicolons.',
  ]);
  await call('POST', `/tasks/${run.taskId}/say`, { text: 'Third.' });
  expect(await hearing.hasMore()).toBe(true);
  await hearing.markRead(em(), 4);
  expect((await hearing.readUnread()).map((m) => m.content)).toEqual(['[octocat says]\nThird.']);
});

test('a waiting run gets messages too, and keeps waiting', async () => {
  const run = await queued();
  await call('POST', `/tasks/${run.taskId}/pause`);
  expect((await call('POST', `/tasks/${run.taskId}/say`, { text: 'Later.' })).status).toBe(202);
  expect(await taskOf(run.taskId)).toMatchObject({ attention: { reason: 'paused' } });
});

test('saying something to a run that just ended is refused; what it did not read is left to the next run', async () => {
  const run = await running();
  await call('POST', `/tasks/${run.taskId}/say`, { text: 'Too late.' });
  await endRun(em(), run.id, 'cancelled', null);
  const late = await call('POST', `/tasks/${run.taskId}/say`, { text: 'Even later.' });
  expect([late.status, late.body.message]).toEqual([409, expect.stringContaining('no unfinished run')]);
  expect(await listWaitingRevisions(em(), run.taskId)).toMatchObject([
    { source: 'person', text: '[octocat says]\nToo late.' },
  ]);
  expect((await logOf(run.id)).at(-1)?.text).toContain('the next run reads them');
});

test('an agent that does not read gets at most twenty messages', async () => {
  const run = await queued();
  const say = () => call('POST', `/tasks/${run.taskId}/say`, { text: 'x' });
  for (let i = 0; i < 20; i++) expect((await say()).status).toBe(202);
  expect((await say()).status).toBe(409);
});

test('an answer by number reaches the agent as the text of the option, and the run continues', async () => {
  const run = await asking(['tabs', 'spaces']);
  expect((await taskOf(run.taskId)).attention).toMatchObject({
    reason: 'question',
    text: 'Which one?',
    options: ['tabs', 'spaces'],
  });
  const refused = await call('POST', `/tasks/${run.taskId}/answer`, { text: '3' });
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('from 1 to 2')]);
  expect(await call('POST', `/tasks/${run.taskId}/answer`, { text: ' 2 ' })).toMatchObject({
    status: 200,
    body: { attention: null, status: 'in_progress' },
  });
  expect((await claimRun(em(), 30))?.run.id).toBe(run.id);
  expect(await heardBy(run)).toEqual(['[octocat answers "Which one?"]\nspaces']);
});

test('what is said to a run that asks is no answer, and a question that was withdrawn takes none', async () => {
  const run = await asking();
  const { id } = (await taskOf(run.taskId)).attention;
  await call('POST', `/tasks/${run.taskId}/say`, { text: '1' });
  expect((await taskOf(run.taskId)).attention).toMatchObject({ id, reason: 'question' });
  for (const verb of ['pause', 'resume']) expect((await call('POST', `/tasks/${run.taskId}/${verb}`)).status).toBe(409);
  await call('POST', `/tasks/${run.taskId}/cancel`);
  for (const body of [{ text: 'tabs' }, { text: 'tabs', id }])
    expect((await call('POST', `/tasks/${run.taskId}/answer`, body)).status).toBe(409);
});

test('when two people answer at once, the first answer counts and the second is refused', async () => {
  const run = await asking();
  const { id } = (await taskOf(run.taskId)).attention;
  const both = await Promise.all(
    ['tabs', 'spaces'].map((text) => call('POST', `/tasks/${run.taskId}/answer`, { text, id })),
  );
  expect(both.map((b) => b.status).sort()).toEqual([200, 409]);
  expect(both.find((b) => b.status === 409)?.body.message).toBe('This changed in the meantime; read the new one');
  await claimRun(em(), 30);
  expect(await heardBy(run)).toHaveLength(1);
});

test('a run that waits for people too long is cancelled, and its log says why last', async () => {
  const [old, fresh] = [await queued(), await queued()];
  for (const run of [old, fresh]) await call('POST', `/tasks/${run.taskId}/pause`);
  await given.set(em(), old.id, { waiting_since: `now() - interval '49 hours'` });
  await cancelExpiredWaits(app());
  expect(await taskOf(old.taskId)).toMatchObject({ status: 'ready', failure: null, attention: null });
  expect(await taskOf(fresh.taskId)).toMatchObject({ status: 'in_progress', attention: { reason: 'paused' } });
  const why = 'Nobody reacted for 2 days, so the run was cancelled. Its branch is kept; retry continues it.';
  expect((await logOf(old.id)).at(-1)).toMatchObject({ type: 'cancelled', text: why });
  const { handoffs } = (await call('GET', `/tasks/${old.taskId}/handoffs`)).body;
  expect(handoffs[0].summary).toBe(why);
});

test('when two people resume a run at once, the second is refused', async () => {
  const run = await queued();
  await pauseRun(app(), act(run));
  const both = await Promise.all([1, 2].map(() => call('POST', `/tasks/${run.taskId}/resume`)));
  expect(both.map((b) => b.status).sort()).toEqual([200, 409]);
});
