import type { EntityManager } from 'typeorm';
import { LeaseLost } from '../../src/domain/run.ts';
import { noteProgress } from '../../src/runs/journal.ts';
import { endRun } from '../../src/runs/store.ts';
import { setWaiting } from '../../src/runs/waiting/store.ts';
import {
  type Claim,
  claimRun,
  giveBack,
  handOver,
  hasClaimable,
  lastInterruption,
  maxInterruptions,
  renewLease,
} from '../../src/worker/lease/lease-store.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns();
const { addRun, set, undone } = given;

const claim = (em: EntityManager) => claimRun(em, 30);
const claimed = async (em: EntityManager) => (await claim(em))?.run.id;
const heldBy = ({ run }: Claim) => ({ id: run.id, fence: run.fence });
const first = async (em: EntityManager) => heldBy((await claim(em)) as Claim);
const read = async (em: EntityManager, id: string, columns: string) =>
  (await em.query(`select ${columns} from runs where id = $1`, [id]))[0];

test('the oldest run of a project is claimed first, and an agent works on one run of a project', () =>
  undone(async (em) => {
    const [young, old, foreign] = [await addRun(em), await addRun(em), await addRun(em)];
    const others = await addRun(em, { agentId: given.agentIds[1] ?? '' });
    await set(em, old, { created_at: `now() - interval '3 hours'` });
    await set(em, young, { created_at: `now() - interval '2 hours'` });
    await set(em, others, { created_at: `now() - interval '1 hour'` });
    await em.query(`insert into projects (id, name, slug) values ('elsewhere', 'e', 'e')`);
    await set(em, foreign, { project_id: `'elsewhere'`, created_at: `now() - interval '1 minute'` });
    expect([await claimed(em), await claimed(em), await claimed(em)]).toEqual([old, foreign, others]);
    expect([await hasClaimable(em), await claimed(em)]).toEqual([false, undefined]);
    await endRun(em, old, 'succeeded', null);
    expect([await hasClaimable(em), await claimed(em)]).toEqual([true, young]);
  }));

test('of runs that were created at the same time, the one with the lower id is claimed first', () =>
  undone(async (em) => {
    const ids = [await addRun(em), await addRun(em, { agentId: given.agentIds[1] ?? '' })];
    await set(em, ids[0] ?? '', { id: `'run_z'` });
    expect([await claimed(em), await claimed(em)]).toEqual([ids[1], 'run_z']);
  }));

test('of the runs of a project, the most urgent one that may begin is claimed first', () =>
  undone(async (em) => {
    const [, second = ''] = given.agentIds;
    const runOf = async (
      priority: 'urgent' | 'high' | 'normal' | 'low',
      agentId: string | undefined,
      minutes: number,
    ) => {
      const id = await addRun(em, {
        taskId: await given.addTask(em, { priority }),
        ...(agentId === undefined ? {} : { agentId }),
      });
      await set(em, id, { created_at: `now() - interval '${minutes} minutes'` });
      return id;
    };
    const low = await runOf('low', undefined, 60);
    const normal = await runOf('normal', undefined, 50);
    const urgent = await runOf('urgent', undefined, 5);
    const sameUrgency = await runOf('urgent', undefined, 4);
    const high = await runOf('high', second, 3);
    // The first agent is busy from then on, and the second one too.
    expect([await claimed(em), await claimed(em), await claimed(em)]).toEqual([urgent, high, undefined]);
    await endRun(em, urgent, 'succeeded', null);
    expect(await claimed(em)).toBe(sameUrgency);
    await endRun(em, sameUrgency, 'succeeded', null);
    expect(await claimed(em)).toBe(normal);
    await endRun(em, normal, 'succeeded', null);
    expect(await claimed(em)).toBe(low);
  }));

test('an urgent run goes before no run of another project, and needs its labels', () =>
  undone(async (em) => {
    await em.query(`insert into projects (id, name, slug) values ('elsewhere', 'e', 'e')`);
    const others = await addRun(em);
    await set(em, others, { project_id: `'elsewhere'`, created_at: `now() - interval '1 minute'` });
    const urgent = await addRun(em, { taskId: await given.addTask(em, { priority: 'urgent' }) });
    expect(await claimed(em)).toBe(others);
    await set(em, urgent, { runs_on: `'{gpu}'` });
    const plain = await addRun(em);
    expect(await claimed(em)).toBe(plain);
    await endRun(em, plain, 'succeeded', null);
    await addRun(em);
    expect((await claimRun(em, 30, 0, ['gpu']))?.run.id).toBe(urgent);
  }));

test('a claim starts the lease; a takeover raises the fence and keeps the time of the start', () =>
  undone(async (em) => {
    const id = await addRun(em);
    expect((await claim(em))?.takenOver).toBeUndefined();
    const state = `fence, started_at = now() as "isStarted", heartbeat_at = now() as beats,
      lease_until = now() + interval '30 seconds' as "isLeased"`;
    expect(await read(em, id, state)).toEqual({ fence: 1, isStarted: true, beats: true, isLeased: true });
    const lost = { lease_until: `now() - interval '1 second'`, heartbeat_at: `now() - interval '31 seconds'` };
    await set(em, id, { ...lost, started_at: `now() - interval '1 hour'` });
    expect((await claim(em))?.takenOver).toEqual({ seconds: 31, isGivenBack: false });
    expect(await read(em, id, state)).toEqual({ fence: 2, isStarted: false, beats: true, isLeased: true });
  }));

test('a run that needs labels is claimed only by a worker that has them, and delays no other run', () =>
  undone(async (em) => {
    const [both, gpu, plain, other] = [await addRun(em), await addRun(em), await addRun(em), await addRun(em)];
    await set(em, both, { runs_on: `'{big,gpu}'`, created_at: `now() - interval '4 minutes'` });
    await set(em, gpu, { runs_on: `'{gpu}'`, created_at: `now() - interval '3 minutes'` });
    await set(em, plain, { created_at: `now() - interval '2 minutes'` });
    const claimBy = async (...labels: string[]) => (await claimRun(em, 30, 0, labels))?.run.id;
    // All are of one agent, which works on one of them at a time.
    for (const [labels, expected] of [
      [[], plain],
      [['gpu'], gpu],
      [['gpu', 'linux', 'big'], both],
    ] as const) {
      expect([await hasClaimable(em, 0, [...labels]), await claimBy(...labels)]).toEqual([true, expected]);
      await endRun(em, expected, 'succeeded', null);
      await set(em, other, { runs_on: `'{gpu}'` });
      expect(await claimBy()).toBeUndefined();
    }
    // Not among the oldest of all, because a run of its project is running.
    const [first, second] = given.agentIds;
    await set(em, other, { agent_id: `'${second}'`, runs_on: `'{gpu}'`, created_at: `now() - interval '1 hour'` });
    const busy = await addRun(em, { agentId: first ?? '' });
    expect(await claimBy()).toBe(busy);
    const later = await addRun(em, { agentId: second ?? '' });
    expect(await claimBy()).toBe(later);
    await endRun(em, later, 'succeeded', null);
    expect(await claimBy('gpu')).toBe(other);
    // Neither does a worker without its labels take over a run whose worker was lost.
    await set(em, other, { lease_until: `now() - interval '1 second'` });
    expect([await claimBy(), await claimBy('gpu')]).toEqual([undefined, other]);
  }));

test('a run that lets others go first needs its labels, too', () =>
  undone(async (em) => {
    const [trial, behind] = [await addRun(em, { kind: 'trial' }), await addRun(em, { kind: 'trial' })];
    await set(em, trial, { runs_on: `'{gpu}'`, created_at: `now() - interval '1 hour'` });
    expect(await claimed(em)).toBe(behind);
    expect(await claimed(em)).toBeUndefined();
    expect((await claimRun(em, 30, 0, ['gpu']))?.run.id).toBe(trial);
  }));

test('a run with a valid lease is not claimed, whatever its pause', () =>
  undone(async (em) => {
    const id = await addRun(em, { status: 'running' });
    await set(em, id, { lease_until: `now() + interval '1 second'`, not_before: `now() - interval '1 hour'` });
    expect([await hasClaimable(em), await claim(em)]).toEqual([false, undefined]);
  }));

test('workers are woken for a queued run after two seconds, because its own job wakes one first', () =>
  undone(async (em) => {
    const id = await addRun(em);
    await set(em, id, { created_at: `now() - interval '1.9 seconds'` });
    expect(await hasClaimable(em)).toBe(false);
    await set(em, id, { created_at: `now() - interval '2.1 seconds'` });
    expect(await hasClaimable(em)).toBe(true);
    await addRun(em, { status: 'running', leaseUntil: new Date(Date.now() + 60_000) });
    expect(await hasClaimable(em)).toBe(false);
  }));

/** Stores a project, and returns its id. */
async function addProject(em: EntityManager, id: string): Promise<string> {
  await em.query('insert into projects (id, name, slug) values ($1, $1, $1)', [id]);
  return id;
}

test('the project with the fewest running runs is next, then the oldest run', () =>
  undone(async (em) => {
    const [quiet, other] = [await addProject(em, 'quiet'), await addProject(em, 'other')];
    const ago = (id: string, minutes: number) => set(em, id, { created_at: `now() - interval '${minutes} minutes'` });
    const noisy = [];
    for (const agentId of given.agentIds.slice(0, 4)) noisy.push(await addRun(em, { agentId }));
    for (const [i, id] of noisy.entries()) await ago(id, 60 - i);
    const [late, later, latest] = [await addRun(em), await addRun(em), await addRun(em)];
    await set(em, late, { project_id: `'${quiet}'` });
    await set(em, later, { project_id: `'${other}'` });
    await set(em, latest, { project_id: `'${quiet}'`, agent_id: `'${given.agentIds[1]}'` });
    for (const [i, id] of [late, later, latest].entries()) await ago(id, 10 - i);
    const order = [noisy[0], late, later, noisy[1], latest, noisy[2], noisy[3]];
    for (const id of order) expect(await claimed(em)).toBe(id);
    expect(await claimed(em)).toBeUndefined();
  }));

test('a run whose worker was lost is claimed before queued runs', () =>
  undone(async (em) => {
    const lost = await addRun(em, { status: 'running', leaseUntil: new Date(Date.now() - 60_000) });
    const queued = await addRun(em, { agentId: given.agentIds[1] ?? '' });
    await set(em, queued, {
      project_id: `'${await addProject(em, 'quiet')}'`,
      created_at: `now() - interval '1 hour'`,
    });
    expect([await claimed(em), await claimed(em)]).toEqual([lost, queued]);
  }));

test('a project has at most MAX_RUNS_PER_PROJECT running runs; waiting runs do not count', () =>
  undone(async (em) => {
    const ids = [];
    for (const agentId of given.agentIds.slice(0, 4)) ids.push(await addRun(em, { agentId }));
    const next = async () => (await claimRun(em, 30, 2))?.run.id;
    expect([await next(), await next(), await next()]).toEqual([ids[0], ids[1], undefined]);
    await set(em, ids[2] ?? '', { created_at: `now() - interval '1 minute'` });
    expect([await hasClaimable(em, 2), await hasClaimable(em, 3)]).toEqual([false, true]);
    const wait = { id: 'w', reason: 'paused' as const, text: '', options: [], seconds: null };
    await setWaiting(em, ids[0] ?? '', wait);
    expect([await hasClaimable(em, 2), await next(), await next()]).toEqual([true, ids[2], undefined]);
  }));

test('two workers claim runs of different projects at the same time without waiting for each other', async () => {
  const { db } = given.service.app;
  const elsewhere = await addProject(db.manager, 'elsewhere');
  const ids = [await addRun(db.manager), await addRun(db.manager)];
  await set(db.manager, ids[1] ?? '', { project_id: `'${elsewhere}'` });
  await undone(async (em) => {
    const mine = await claimed(em);
    await db.transaction(async (other) => {
      // Without `skip locked` this claim would wait for the first transaction.
      await other.query(`set local lock_timeout = '2s'`);
      expect([mine, await claimed(other)].sort()).toEqual(ids.sort());
    });
  });
  await db.manager.query('delete from runs');
  await db.manager.query('delete from projects where id = $1', [elsewhere]);
});

test('workers that claim at the same time keep to the order of projects and to the limit', async () => {
  const { manager } = given.service.app.db;
  const quiet = await addProject(manager, 'quiet');
  for (const agentId of given.agentIds) await addRun(manager, { agentId });
  const late = await addRun(manager);
  await set(manager, late, { project_id: `'${quiet}'` });
  const claims = await Promise.all(Array.from({ length: 12 }, () => claimRun(manager, 30, 2)));
  // A run that another worker was about to claim is skipped, and left to the next look if that one had to begin again.
  for (let more = await claimRun(manager, 30, 2); more !== undefined; more = await claimRun(manager, 30, 2))
    claims.push(more);
  const projects = claims.flatMap((found) => (found === undefined ? [] : [found.run.projectId]));
  expect(projects.sort()).toEqual([given.projectId, given.projectId, quiet].sort());
  await manager.query('delete from runs');
  await manager.query('delete from projects where id = $1', [quiet]);
});

test('a lease is renewed only for its holder', () =>
  undone(async (em) => {
    const id = await addRun(em);
    const holder = await first(em);
    const left = `lease_until = now() + interval '50 seconds' as "isLeased", heartbeat_at = now() as beats`;
    await set(em, id, { heartbeat_at: `now() - interval '9 seconds'` });
    await renewLease(em, holder, 50);
    expect(await read(em, id, left)).toEqual({ isLeased: true, beats: true });
    await expect(renewLease(em, { id, fence: 0 }, 90)).rejects.toBeInstanceOf(LeaseLost);
    await expect(renewLease(em, { id, fence: 2 }, 90)).rejects.toBeInstanceOf(LeaseLost);
    await endRun(em, id, 'cancelled', null);
    await expect(renewLease(em, holder, 90)).rejects.toThrow(`run ${id} is no longer held by this worker`);
    expect(await read(em, id, left)).toEqual({ isLeased: null, beats: true });
  }));

test('only the holder hands a run over or gives it back, and only while it runs', () =>
  undone(async (em) => {
    const id = await addRun(em);
    const holder = await first(em);
    const stale = { id, fence: holder.fence - 1 };
    await handOver(em, stale);
    expect(await giveBack(em, stale)).toBeUndefined();
    expect([await hasClaimable(em), await claim(em)]).toEqual([false, undefined]);
    await endRun(em, id, 'failed', null);
    await handOver(em, holder);
    expect(await giveBack(em, holder)).toBeUndefined();
    expect(await read(em, id, 'lease_until, not_before, interruptions')).toEqual({
      lease_until: null,
      not_before: null,
      interruptions: 0,
    });
  }));

test('the last interruption is the newest log line with a reason', () =>
  undone(async (em) => {
    const [id, other] = [await addRun(em), await addRun(em)];
    expect(await lastInterruption(em, id)).toBeUndefined();
    const say = (run: string, data: object) =>
      em.query(`insert into run_events (run_id, type, text, data) values ($1, 'loop', '', $2)`, [run, data]);
    await say(id, { interrupted: 'the first' });
    await say(id, { interrupted: 'the second' });
    await say(id, {});
    await say(other, { interrupted: 'of another run' });
    expect(await lastInterruption(em, id)).toBe('the second');
  }));

/** Runs a test on one run in a transaction that is rolled back. */
const withRun = (act: (em: EntityManager, id: string) => Promise<void>) =>
  given.undone(async (em) => act(em, await given.addRun(em)));

/** Simulates the loss of the worker: its lease expired this many seconds ago. */
const lose = (em: EntityManager, seconds: number) =>
  em.query(`update runs set lease_until = now() - make_interval(secs => $1)`, [seconds]);
const wait = (em: EntityManager, seconds: number) =>
  em.query(`update runs set not_before = not_before - make_interval(secs => $1)`, [seconds]);

test("the first takeover of a lost worker's run is immediate, each later one waits longer", () =>
  withRun(async (em) => {
    expect(await claim(em)).toMatchObject({ run: { interruptions: 0 }, takenOver: undefined });
    await lose(em, 0.1);
    expect(await claim(em)).toMatchObject({ run: { interruptions: 1 }, takenOver: { isGivenBack: false } });
    for (const [i, pause] of [1, 2, 4, 8, 16, 32, 60, 60, 60].entries()) {
      await lose(em, pause - 0.1);
      expect([pause, await hasClaimable(em), await claim(em)]).toEqual([pause, false, undefined]);
      await lose(em, pause + 0.1);
      expect(await hasClaimable(em)).toBe(true);
      expect((await claim(em))?.run.interruptions).toBe(i + 2);
    }
    expect(maxInterruptions).toBe(10);
  }));

test('a run that is returned to the queue waits longer each time, until it makes progress', () =>
  withRun(async (em, id) => {
    const pauses = [];
    for (let i = 0; i < 3; i++) {
      const held = (await claim(em))?.run as { id: string; fence: number };
      pauses.push(await giveBack(em, held));
      expect(await claim(em)).toBeUndefined();
      await wait(em, (pauses.at(-1) ?? 0) + 0.1);
    }
    expect(pauses).toEqual([1, 2, 4]);
    expect(await claim(em)).toMatchObject({ run: { interruptions: 3 }, takenOver: { isGivenBack: true } });
    await noteProgress(em, id);
    await lose(em, 0.1);
    expect(await claim(em)).toMatchObject({ run: { interruptions: 1 } });
  }));

test('a run that was handed over can be claimed immediately, and does not count as interrupted', () =>
  withRun(async (em) => {
    for (let i = 0; i < maxInterruptions + 1; i++) {
      const held = await claim(em);
      expect(held).toMatchObject({ run: { interruptions: 0 } });
      await handOver(em, held?.run as { id: string; fence: number });
    }
  }));

test('a worker that has lost a run cannot return it to the queue', () =>
  withRun(async (em) => {
    const lost = (await claim(em))?.run as { id: string; fence: number };
    await lose(em, 0.1);
    await claim(em);
    expect(await giveBack(em, lost)).toBeUndefined();
    expect(await hasClaimable(em)).toBe(false);
  }));

test('a run that lets others go first is claimed only when no other run of its project waits, and occupies no agent', () =>
  undone(async (em) => {
    const ago = (id: string, minutes: number) => set(em, id, { created_at: `now() - interval '${minutes} minutes'` });
    const proof = await addRun(em, { kind: 'prove', agentId: null });
    await ago(proof, 60);
    const own = given.agentIds[0] ?? '';
    const [first, second] = [await addRun(em, { agentId: own }), await addRun(em, { agentId: own })];
    await ago(first, 10);
    await ago(second, 5);
    expect([await claimed(em), await hasClaimable(em), await claimed(em)]).toEqual([first, false, undefined]);
    // Those of other projects do not wait for this one.
    const elsewhere = await addRun(em, { kind: 'prove', agentId: null });
    await set(em, elsewhere, { project_id: `'${await addProject(em, 'behind')}'` });
    await ago(elsewhere, 120);
    await endRun(em, first, 'succeeded', null);
    expect([await claimed(em), await claimed(em), await claimed(em)]).toEqual([elsewhere, second, proof]);
    await endRun(em, second, 'succeeded', null);
    // While a trial of an agent runs, so does the agent's own run.
    const trial = await addRun(em, { agentId: own });
    await set(em, trial, { kind: `'trial'` });
    expect(await claimed(em)).toBe(trial);
    const task = await addRun(em, { agentId: own });
    expect(await claimed(em)).toBe(task);
  }));

test('one harvest of a project runs at a time, and its other runs do not wait for those that wait', () =>
  undone(async (em) => {
    const harvest = async (hours: number) => {
      const id = await addRun(em, { kind: 'harvest', agentId: null });
      await set(em, id, { created_at: `now() - interval '${hours} hours'` });
      return id;
    };
    const [oldest, next] = [await harvest(3), await harvest(2)];
    expect(await claimed(em)).toBe(oldest);
    expect([await hasClaimable(em), await claimed(em)]).toEqual([false, undefined]);
    const proof = await addRun(em, { kind: 'prove', agentId: null });
    expect(await claimed(em)).toBe(proof);
    // A harvest whose worker was lost goes on.
    await set(em, oldest, { lease_until: `now() - interval '1 second'` });
    expect(await claimed(em)).toBe(oldest);
    await endRun(em, oldest, 'succeeded', null);
    expect(await claimed(em)).toBe(next);
  }));
