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

/** Adds waiting runs of several agents to each of these projects, which come before all others. */
async function crowd(em: EntityManager, projects: number, createdBy: string | null, each: number): Promise<void> {
  for (let n = 0; n < projects; n++) {
    const project = `crowd${n}`;
    await em.query('insert into projects (id, name, slug, created_by) values ($1, $1, $1, $2)', [project, createdBy]);
    for (let i = 0; i < each; i++) {
      const id = await addRun(em, { agentId: given.agentIds[i % 2] ?? '' });
      await set(em, id, { project_id: `'${project}'`, created_at: `now() - interval '${60 + n} seconds'` });
    }
  }
}

test.each([
  ['one project', 1, null, 40],
  ['the projects that a person created without an installation', 20, 'vera', 2],
] as const)('%s with 40 waiting runs let another project begin', (_what, projects, createdBy, each) =>
  undone(async (em) => {
    await em.query(`insert into users (id, login) values ('vera', 'vera')`);
    await crowd(em, projects, createdBy, each);
    const other = await addRun(em);
    await set(em, other, { created_at: `now() - interval '30 seconds'` });
    expect(await turnOf(em, other)).toBe(2);
  }));
