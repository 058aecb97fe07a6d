import type { EntityManager } from 'typeorm';
import { Tasks } from '../../src/db/work-tables.ts';
import {
  claimRun,
  giveBack,
  handOver,
  hasClaimable,
  maxInterruptions,
  noteProgress,
} from '../../src/runs/lease/lease-store.ts';
import { insertRun } from '../../src/runs/store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';

let service: TestApp;
let project: { projectId: string; agentId: string };

beforeAll(async () => {
  service = await openTestApp();
  const token = await service.token('octocat');
  const { body } = await service.call('POST', '/projects', { token, body: { name: 'Takeovers' } });
  const agents = await service.call('GET', `/agents?projectId=${body.id}`, { token });
  project = { projectId: body.id, agentId: agents.body[0].id };
});
afterAll(() => service.close());

/** Runs a test on one run inside a transaction, in which now() does not change, and rolls it back. */
async function withRun(act: (em: EntityManager, id: string) => Promise<void>): Promise<void> {
  const undo = new Error('undo');
  const work = service.app.db.transaction(async (em) => {
    await em.insert(Tasks, { id: 'task_1', projectId: project.projectId, title: 'x', status: 'in_progress' });
    const run = { ...project, taskId: 'task_1', startedBy: null, kind: 'start' as const, instructions: '' };
    await act(em, await insertRun(em, run));
    throw undo;
  });
  await expect(work).rejects.toBe(undo);
}

/** Simulates the loss of the worker: its lease expired this many seconds ago. */
const lose = (em: EntityManager, seconds: number) =>
  em.query(`update runs set lease_until = now() - make_interval(secs => $1)`, [seconds]);
const wait = (em: EntityManager, seconds: number) =>
  em.query(`update runs set not_before = not_before - make_interval(secs => $1)`, [seconds]);
const claim = (em: EntityManager) => claimRun(em, 30);

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
