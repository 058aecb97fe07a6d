import { LeaseLost } from '../../src/domain/run.ts';
import {
  deleteOldEvents,
  droppedStep,
  findStep,
  insertEvent,
  isCommitOfRun,
  listEvents,
  listRunChecks,
  openJournal,
  stepOf,
} from '../../src/runs/journal.ts';
import { endRun } from '../../src/runs/store.ts';
import { deleteOldTurns, insertTurn, listTurns } from '../../src/runs/taking-up/turn-store.ts';
import { claimRun } from '../../src/worker/lease/lease-store.ts';
import { pushWork } from '../../src/worker/publish/publish.ts';
import { insertContext } from '../../src/worker/turns.ts';
import type { Work } from '../../src/worker/work.ts';
import { dropStoredFiles, findStoredFiles, storedBytes } from '../../src/worker/workspace/stored-files.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns();
const { addRun, addTask, set, undone } = given;

/** Stores a run that a worker holds. It is committed, because a journal uses transactions of its own. */
async function openHeld() {
  const { app } = given.service;
  const id = await addRun(app.db.manager);
  const claim = await claimRun(app.db.manager, 3600);
  expect(claim?.run.id).toBe(id);
  const held = { id, fence: claim?.run.fence ?? 0 };
  const end = () => endRun(app.db.manager, id, 'cancelled', null);
  return { id, held, journal: openJournal(app, held), stale: openJournal(app, { id, fence: held.fence - 1 }), end };
}

test('a push that an earlier version recorded without its tree is compared by what git knows', async () => {
  const { journal, end } = await openHeld();
  await journal.once('push', async () => ({ commit: 'commit 1' }));
  const checkout = { fetch: async () => 'commit 2', treeOf: async (commit: string) => `tree of ${commit}` };
  const place = { task: { repositoryId: 'repo_1' }, repository: { id: 'repo_1', name: 'One' }, branch: { name: 'x' } };
  const retrying = (step: () => unknown) => step();
  const push = (tree: string) =>
    pushWork(given.service.app, { ...place, journal, checkout, retrying, evidence: { tree } } as unknown as Work, '');
  expect(await push('tree of commit 1')).toEqual({ commit: 'commit 1', tree: 'tree of commit 1' });
  await expect(push('another tree')).rejects.toThrow('other files of One were pushed');
  await end();
});

test('a step is made once and found again by its name', async () => {
  const { id, journal, end } = await openHeld();
  const { manager } = given.service.app.db;
  await set(manager, id, { interruptions: '3' });
  let made = 0;
  const make = async () => ({ nth: ++made });
  expect(await journal.recall('push b')).toBeUndefined();
  expect([await journal.once('push b', make), await journal.once('push b', make)]).toEqual([{ nth: 1 }, { nth: 1 }]);
  expect(await journal.once('push a', make)).toEqual({ nth: 2 });
  await journal.once('pushed', make);
  await journal.once('push_', make);
  expect(await journal.recall('push a')).toEqual({ nth: 2 });
  expect(await journal.steps('push ')).toEqual(['push b', 'push a']);
  expect(await findStep(manager, 'run_other', 'push b')).toBeUndefined();
  // A recorded step is progress.
  expect(await manager.query('select interruptions from runs where id = $1', [id])).toEqual([{ interruptions: 0 }]);
  await end();
});

test('a worker that lost the run, or whose run has ended, writes nothing', async () => {
  const { id, journal, stale, end } = await openHeld();
  await expect(stale.once('late', async () => ({}))).rejects.toBeInstanceOf(LeaseLost);
  await expect(stale.note('loop', 'late')).rejects.toBeInstanceOf(LeaseLost);
  await expect(
    journal.write(async (em) => {
      await insertEvent(em, id, 'loop', 'undone', {});
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await journal.note('loop', 'in time', { nth: 1 });
  await end();
  await expect(journal.note('loop', 'late')).rejects.toBeInstanceOf(LeaseLost);
  expect(await journal.recall('late')).toBeUndefined();
  const events = await listEvents(given.service.app.db.manager, id);
  expect(events.map(({ type, text, data }) => [type, text, data])).toEqual([['loop', 'in time', { nth: 1 }]]);
});

test("steps in a task's own repository have plain names, others end with the id of their repository", () => {
  expect(stepOf('push', { repositoryId: 'repo_1' }, { id: 'repo_1' })).toBe('push');
  expect(stepOf('push', { repositoryId: 'repo_1' }, { id: 'repo_2' })).toBe('push repo_2');
});

test('the commits of runs are known, whatever task and repository they are of, and whatever became of the run', async () => {
  const { id, journal, end } = await openHeld();
  const { manager } = given.service.app.db;
  await journal.once('pushing', async () => ({ branch: 'agent/x', commit: 'a' }));
  await journal.once('pushing repo_2', async () => ({ branch: 'agent/x', commit: 'b' }));
  await journal.once('title', async () => ({ commit: 'c' }));
  await journal.once('signed a', async () => ({ commit: 'd' }));
  await journal.once('signed b repo_2', async () => ({ commit: 'e' }));
  await journal.once('signed c', async () => ({ reason: 'refused' }));
  await end();
  await manager.query(`update runs set status = 'cancelled' where id = $1`, [id]);
  const known = ['a', 'b', 'c', 'd', 'e', 'f'].map((commit) => isCommitOfRun(manager, commit));
  expect(await Promise.all(known)).toEqual([true, true, false, true, true, false]);
});

test('each turn keeps the files that it changed, up to a turn and in their order', () =>
  undone(async (em) => {
    const [id, other] = [await addRun(em), await addRun(em)];
    const add = (run: string, turn: number, workspace: string | null) =>
      insertTurn(em, run, turn, {
        messages: [{ role: 'user', content: `turn ${turn}` }],
        workspace: workspace === null ? null : Buffer.from(workspace),
        usage: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: null },
      });
    await add(other, 0, 'theirs');
    for (const [turn, workspace] of ['a', 'b', null, 'c'].entries()) await add(id, turn, workspace);
    await insertContext(em, id, [], Buffer.from('left'));
    const kept = async (run: string, last?: number) =>
      (await findStoredFiles(em, run, last)).map((workspace) => workspace.toString());
    expect(await kept(id)).toEqual(['left', 'a', 'b', 'c']);
    expect(await kept(id, 2)).toEqual(['left', 'a', 'b']);
    expect(await kept(other)).toEqual(['theirs']);
    expect((await listTurns(em, id)).map(({ messages }) => messages[0]?.content)).toEqual([
      'turn 0',
      'turn 1',
      'turn 2',
      'turn 3',
    ]);
  }));

test('files of earlier turns are dropped once a turn has stored all of them', () =>
  undone(async (em) => {
    const id = await addRun(em);
    const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: null };
    await insertContext(em, id, [], Buffer.from('left'));
    for (const turn of [0, 1]) await insertTurn(em, id, turn, { messages: [], workspace: Buffer.from('part'), usage });
    expect(await storedBytes(em, id)).toBe(12);
    for (const turn of [2, 3]) {
      await dropStoredFiles(em, id, turn);
      await insertTurn(em, id, turn, { messages: [], workspace: Buffer.from(`whole ${turn}`), usage });
    }
    expect((await findStoredFiles(em, id)).join()).toBe('whole 3');
    expect(await findStep(em, id, droppedStep)).toEqual({ turn: 3 });
  }));

test('log lines are cut, and read in pages after a line', () =>
  undone(async (em) => {
    const [id, other] = [await addRun(em), await addRun(em)];
    await insertEvent(em, id, 'tool', `${'x'.repeat(1999)}\0yz`, { steps: ['a\0b'] });
    await insertEvent(em, other, 'tool', 'of another run', {});
    for (const text of ['two', 'three', 'four']) await insertEvent(em, id, 'loop', text, {});
    const all = await listEvents(em, id);
    expect(all.map((event) => event.text)).toEqual([`${'x'.repeat(1999)}\ufffd`, 'two', 'three', 'four']);
    expect(all[0]?.data).toEqual({ steps: ['a\ufffdb'] });
    const next = await listEvents(em, id, { afterId: all[0]?.id ?? '', limit: 2 });
    expect(next.map((event) => event.text)).toEqual(['two', 'three']);
  }));

test('the last result of each check is read from the latest run that ran any', () =>
  undone(async (em) => {
    const taskId = await addTask(em);
    const ranOn = (day: number) =>
      addRun(em, { taskId, status: 'failed', createdAt: new Date(Date.UTC(2026, 0, day)) });
    const [first, latest, without] = [await ranOn(1), await ranOn(2), await ranOn(3)];
    const check = (id: string, name: string, passed: boolean) =>
      insertEvent(em, id, 'check', `${name}: ${passed ? 'passed' : 'failed'}`, { passed });
    await check(first, 'old', true);
    await check(latest, 'test', false);
    await check(latest, 'lint', true);
    await check(latest, 'test', true);
    await insertEvent(em, latest, 'check', 'no result', {});
    await insertEvent(em, without, 'loop', 'no checks', {});
    expect(await listRunChecks(em, taskId)).toEqual([
      { name: 'lint', passed: true },
      { name: 'test', passed: true },
    ]);
    for (let i = 0; i < 100; i++) await check(latest, `further ${i}`, true);
    expect(await listRunChecks(em, taskId)).toHaveLength(100);
  }));

test('of the old turns of ended runs the oldest are deleted first', () =>
  undone(async (em) => {
    const ended = await addRun(em, { status: 'failed' });
    await set(em, ended, { finished_at: `now() - interval '5 days'` });
    for (const id of [ended, await addRun(em)])
      for (const days of [7, 5, 6])
        await em.query(
          `insert into run_turns (run_id, turn, messages, at)
           values ($1, $2::int, '[]', now() - $2::int * interval '1 day')`,
          [id, days],
        );
    expect([await deleteOldTurns(em, 4, 2), await deleteOldTurns(em, 5, 2)]).toEqual([2, 0]);
    expect(await em.query('select turn from run_turns where run_id = $1', [ended])).toEqual([{ turn: 5 }]);
    expect(await em.query('select count(*)::int as n from run_turns')).toEqual([{ n: 4 }]);
  }));

test('of the old log lines the oldest are deleted first', () =>
  undone(async (em) => {
    const id = await addRun(em, { status: 'failed', finishedAt: new Date() });
    for (const days of [5, 7, 6])
      await em.query(
        `insert into run_events (run_id, type, text, at) values ($1, 'loop', $2::int, now() - $2::int * interval '1 day')`,
        [id, days],
      );
    expect([await deleteOldEvents(em, 4, 2), await deleteOldEvents(em, 6, 2)]).toEqual([2, 0]);
    expect((await listEvents(em, id)).map((event) => event.text)).toEqual(['5']);
  }));
