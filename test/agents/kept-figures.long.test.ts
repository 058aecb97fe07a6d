import { migrations } from '../../migrations/list.ts';
import {
  readLanguageSkills,
  readOneHealth,
  readPerformance,
  rebuildFigures,
  resetHealth,
} from '../../src/agents/figures.ts';
import { findFigures, findHealthFacts, listSkills, listWeeks } from '../../src/agents/figures-store.ts';
import type { App } from '../../src/app.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { isThorough } from '../support/thorough.ts';
import { countFigures, inMicroseconds } from './counted.ts';
import { makeHistory } from './histories.ts';

/** Time limit for a thousand histories. */
const thoroughMs = isThorough ? 1_800_000 : undefined;

let db: Database;
let drop: () => Promise<void>;
const sql = (text: string, values: unknown[] = []) => db.manager.query(text, values);

beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  db = await openDatabase(database.url, migrations, { poolSize: 8 });
  await sql(`insert into users (id, login) values ('mona', 'mona'), ('hubot', 'hubot')`);
  await sql(`insert into projects (id, name, slug) values ('ours', 'o', 'o'), ('theirs', 't', 't')`);
  await sql(`insert into members (project_id, user_id, role)
    values ('ours', 'mona', 'owner'), ('theirs', 'hubot', 'owner'), ('ours', 'hubot', 'member')`);
});
afterAll(async () => {
  await db.close();
  await drop();
});

const tables = ['task_figures', 'agent_figures', 'agent_skills', 'agent_days', 'task_counts'];
/** Returns every row of the tables of figures as text. */
const stored = () =>
  sql(`${tables.map((name) => `select '${name} ' || f::text as row from ${name} f`).join(' union all ')} order by 1`);

/** Returns the figures of an agent as the interface shows them. */
async function shown(user: string, agentId: string, version: number | undefined) {
  const [{ agentId: _id, averageSeconds, ...figures } = { averageSeconds: null }] = await findFigures(
    db.manager,
    user,
    [agentId],
    version,
  );
  const [{ consecutiveFailures, lastHeartbeat } = {}] = await findHealthFacts(db.manager, user, [agentId], version);
  const weeks = await listWeeks(db.manager, user, { agentId, version }, 12);
  const skills = await listSkills(db.manager, user, { agentId, version });
  return {
    ...figures,
    averageSeconds: inMicroseconds(averageSeconds),
    consecutiveFailures,
    lastHeartbeat,
    weeks: weeks.filter((w) => w.succeeded + w.failed > 0),
    skills: Object.fromEntries(skills.map((s) => [s.language, s.tasks])),
  };
}

/** Returns what can be asked about these agents: each version, and all versions of a line together. */
async function askable(ids: string[]): Promise<{ asked: string; version: number | undefined; agents: string[] }[]> {
  const lines: { agents: string[]; versions: number[] }[] = await sql(
    `select array_agg(id order by version) as agents, array_agg(version order by version) as versions
     from agents where id = any($1) group by line_id`,
    [ids],
  );
  return lines.flatMap(({ agents, versions }) => {
    const asked = agents[0] ?? '';
    const each = versions.map((version, at) => ({ asked, version, agents: agents.slice(at, at + 1) }));
    return [{ asked, version: undefined, agents }, ...each];
  });
}

test(
  'after random histories, kept figures equal those counted from the runs, and rebuilt ones',
  async () => {
    for (let seed = 1; seed <= (isThorough ? 1000 : 20); seed++) {
      const left = await makeHistory(db.transaction, seed);
      for (const { asked, version, agents } of await askable(left.map((a) => a.id)))
        for (const user of ['mona', 'hubot']) {
          const counted = await countFigures(db.manager, { user, agents });
          const found = await shown(user, asked, version);
          const lastHeartbeat = counted.lastHeartbeat ?? found.lastHeartbeat;
          expect([seed, asked, version, user, found]).toEqual([
            seed,
            asked,
            version,
            user,
            { ...counted, lastHeartbeat },
          ]);
        }
    }
    const kept = await stored();
    expect(kept.length).toBeGreaterThan(200);
    await sql(`delete from agent_skills; update agent_figures set tasks = tasks + 1; delete from agent_days where failed > 0;
    update task_figures set lines = 7 where version = 1; delete from languages; delete from task_counts;
    delete from task_figures where version = 2;
    insert into task_figures select 'gone', line_id, 1, project_id, true, false, 1, 1, 1, '{}', '{}', '{}' from agent_figures limit 1`);
    await rebuildFigures(db.manager);
    expect(await stored()).toEqual(kept);
    expect(await sql('select from stale_tasks union all select from task_changes')).toEqual([]);
  },
  thoroughMs,
);

test('transactions that change the same tasks and agents at the same time lose nothing, also during a rebuild', async () => {
  const agents = ['busy_a', 'busy_b'];
  for (const id of agents) await sql(`insert into agents (id, project_id, name) values ($1, 'ours', $1)`, [id]);
  const tasks = Array.from({ length: 6 }, (_, i) => `busy_${i}`);
  for (const id of tasks)
    await sql(`insert into tasks (id, project_id, title, status) values ($1, 'ours', $1, 'ready')`, [id]);
  const work = async (worker: number) => {
    for (let i = 0; i < 8; i++)
      await db.transaction(async (em) => {
        // Each transaction changes two tasks and both agents, in different orders. Runs take no locks on each other.
        for (const n of [worker + i, worker * 5 + i * 3])
          await em.query(
            `insert into runs (id, task_id, project_id, agent_id, kind, status, started_at, finished_at)
             values (gen_random_uuid()::text, $1, 'ours', $2, 'start', 'failed', now(), now())`,
            [tasks[n % tasks.length], agents[(n + worker) % 2]],
          );
      });
  };
  await Promise.all([...[0, 1, 2, 3].map(work), rebuildFigures(db.manager)]);
  const kept = await stored();
  for (const agent of agents) {
    const { lastHeartbeat: _at, ...counted } = await countFigures(db.manager, { user: 'mona', agents: [agent] });
    expect(await shown('mona', agent, undefined)).toMatchObject(counted);
  }
  await rebuildFigures(db.manager);
  expect(await stored()).toEqual(kept);
});

test('a task on which two versions worked counts once for each version, and once for all', async () => {
  await sql(`insert into agents (id, project_id, name, version, previous_version_id, is_newest)
    values ('old', 'ours', 'old', 1, null, false), ('new', 'ours', 'new', 2, 'old', true)`);
  await sql(
    `insert into tasks (id, project_id, title, status, done_at) values ('both', 'ours', 'both', 'done', now())`,
  );
  for (const [agent, minutes, status] of [
    ['old', 60, 'failed'],
    ['new', 20, 'succeeded'],
  ] as const)
    await sql(
      `insert into runs (id, task_id, project_id, agent_id, kind, status, started_at, finished_at)
       values ('run ' || $1, 'both', 'ours', $1, 'start', $2, now() - make_interval(mins => $3), now())`,
      [agent, status, minutes],
    );
  const seconds = async (version?: number) => {
    const found = await findFigures(db.manager, 'mona', ['old', 'new'], version);
    return found.map((f) => [f.totalTasks, f.completedTasks, Math.round(f.averageSeconds ?? 0)]);
  };
  expect(await seconds()).toEqual([
    [1, 1, 3600],
    [1, 1, 3600],
  ]);
  expect(await seconds(2)).toEqual([
    [1, 1, 1200],
    [1, 1, 1200],
  ]);
});

test('the figures of an agent that was deleted in the meantime are not found', async () => {
  const gone = { status: 404, message: expect.stringContaining('agent_gone') };
  const of = { agentId: 'agent_gone', version: undefined };
  const queue = { send: async () => {} };
  await expect(readOneHealth(db.manager, 'mona', of)).rejects.toMatchObject(gone);
  await expect(readPerformance(db.manager, 'mona', of, undefined)).rejects.toMatchObject(gone);
  await expect(readLanguageSkills(db.manager, 'mona', of)).rejects.toMatchObject(gone);
  await expect(resetHealth({ db, queue } as unknown as App, 'mona', 'agent_gone')).rejects.toMatchObject(gone);
});
