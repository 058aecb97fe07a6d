import type { EntityManager } from 'typeorm';
import { endRun } from '../../src/runs/store.ts';
import { claimRun } from '../../src/worker/lease/lease-store.ts';
import { openRuns } from '../support/runs.ts';

const given = openRuns();
const { addRun, set, undone } = given;

/** Claims runs for four slots, each of which is free again when the next run is claimed, until it is this one's turn. */
async function turnOf(em: EntityManager, wanted: string): Promise<number> {
  const running: string[] = [];
  for (let turn = 1; ; turn++) {
    const id = (await claimRun(em, 30))?.run.id;
    if (id === undefined || id === wanted) return id === undefined ? 0 : turn;
    running.push(id);
    const oldest = running.length === 4 ? running.shift() : undefined;
    if (oldest !== undefined) await endRun(em, oldest, 'succeeded', null);
  }
}

/** Sets when a run was queued. */
const ago = (em: EntityManager, id: string, seconds: number) =>
  set(em, id, { created_at: `now() - interval '${seconds} seconds'` });

type Kind = 'start' | 'prove';

/** Adds a waiting run or proof. */
const add = (em: EntityManager, kind: Kind, nth = 0) =>
  addRun(em, { kind, agentId: kind === 'prove' ? null : (given.agentIds[nth % 2] ?? '') });

interface Crowd {
  projects: number;
  each: number;
  createdBy?: string;
  kind?: Kind;
  seconds?: number;
}

/** Adds waiting runs of several agents, or proofs, to each of these projects, which come before all others. */
async function crowd(em: EntityManager, { projects, each, createdBy, kind = 'start', seconds = 60 }: Crowd) {
  for (let n = 0; n < projects; n++) {
    await em.query(
      'insert into projects (id, name, slug, created_by) values ($1, $1, $1, $2) on conflict (id) do nothing',
      [`crowd${n}`, createdBy ?? null],
    );
    for (let i = 0; i < each; i++) {
      const id = await add(em, kind, i);
      await set(em, id, { project_id: `'crowd${n}'` });
      await ago(em, id, seconds + n);
    }
  }
}

/** Claims this many runs, and says of each whether it is one of the crowd, and its kind. */
async function claims(em: EntityManager, count: number): Promise<string[]> {
  const found: string[] = [];
  for (let i = 0; i < count; i++) {
    const run = (await claimRun(em, 30))?.run;
    found.push(`${run?.projectId.startsWith('crowd') ? 'crowd' : 'other'} ${run?.kind}`);
  }
  return found;
}

const ofVera = { projects: 20, createdBy: 'vera', each: 2 };
test.each<[Kind, string, Crowd]>([
  ['start', 'one project with 40 waiting runs', { projects: 1, each: 40 }],
  ['start', 'one project with 40 waiting proofs', { projects: 1, each: 40, kind: 'prove' }],
  ['start', 'the projects that a person created without an installation', ofVera],
  ['prove', 'one project with 40 waiting runs', { projects: 1, each: 40 }],
  ['prove', 'one project with 40 waiting proofs', { projects: 1, each: 40, kind: 'prove' }],
  ['prove', 'the projects that a person created without an installation', ofVera],
])('a run of kind %s of another project begins beside %s', (kind, _what, many) =>
  undone(async (em) => {
    await em.query(`insert into users (id, login) values ('vera', 'vera')`);
    await crowd(em, many);
    const other = await add(em, kind);
    await ago(em, other, 30);
    expect(await turnOf(em, other)).toBe(2);
  }));

test('running proofs count: a project with proofs alone and one with runs take turns', () =>
  undone(async (em) => {
    await crowd(em, { projects: 1, each: 4, kind: 'prove' });
    for (const agentId of given.agentIds.slice(0, 3)) await addRun(em, { agentId });
    const turns = ['crowd prove', 'other start'];
    expect(await claims(em, 7)).toEqual([...turns, ...turns, ...turns, 'crowd prove']);
  }));

test('in the turn of a project its runs come before its proofs, and its oldest run decides whose turn it is', () =>
  undone(async (em) => {
    await crowd(em, { projects: 1, each: 1, kind: 'prove', seconds: 600 });
    await crowd(em, { projects: 1, each: 2, seconds: 20 });
    for (const seconds of [30, 10]) await ago(em, await add(em, 'prove'), seconds);
    const order = ['other prove', 'crowd start', 'crowd start', 'other prove', 'crowd prove'];
    expect(await claims(em, 5)).toEqual(order);
  }));

test.each(['is busy', 'has a waiting run'])('a proof gets its turn behind 510 proofs of a project that %s', (why) =>
  undone(async (em) => {
    await crowd(em, { projects: 1, each: 510, kind: 'prove' });
    if (why === 'is busy') expect(await claims(em, 1)).toEqual(['crowd prove']);
    else await crowd(em, { projects: 1, each: 1, seconds: 5 });
    // Runs of these wait, too, but not for as long.
    for (const n of [1, 2]) {
      await em.query('insert into projects (id, name, slug) values ($1, $1, $1)', [`later${n}`]);
      await set(em, await add(em, 'start'), { project_id: `'later${n}'` });
    }
    const proof = await add(em, 'prove');
    await ago(em, proof, 30);
    expect((await claimRun(em, 30))?.run.id).toBe(proof);
  }));

test('a proof whose worker was lost goes on before queued runs, because it had its turn', () =>
  undone(async (em) => {
    const lost = await add(em, 'prove');
    await set(em, lost, { status: `'running'`, lease_until: `now() - interval '1 minute'` });
    await crowd(em, { projects: 1, each: 3 });
    expect((await claimRun(em, 30))?.run.id).toBe(lost);
  }));

test('workers that claim at the same time keep to the turns and to the limit, also with proofs', async () => {
  const { manager } = given.service.app.db;
  for (const agentId of given.agentIds) await addRun(manager, { agentId });
  await crowd(manager, { projects: 1, each: 4, kind: 'prove' });
  await Promise.all(Array.from({ length: 12 }, () => claimRun(manager, 30, 2)));
  // The rows of a claim that just failed are locked for a moment, so the others may have found less than there is.
  while ((await claimRun(manager, 30, 2)) !== undefined);
  const running = await manager.query(`select kind, slot from runs where status = 'running' order by kind, slot`);
  const slots = (kind: Kind) => [1, 2].map((slot) => ({ kind, slot }));
  expect(running).toEqual([...slots('prove'), ...slots('start')]);
  await manager.query('delete from runs');
  await manager.query(`delete from projects where id = 'crowd0'`);
});
