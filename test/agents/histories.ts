import type { EntityManager } from 'typeorm';

/** Returns a function that returns numbers from 0 to below 1, always the same ones for a seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Line = { id: string; version: number }[];
interface History {
  name: string;
  random: () => number;
  /** The agents of each line that exist, the newest last. */
  lines: Line[];
  tasks: string[];
  runs: { id: string; task: string; status: 'queued' | 'running' | 'ended' }[];
  pulls: number[];
  made: number;
}

const paths = [
  'src/a.ts',
  'b.mts',
  'c.rs',
  'doc/README.md',
  '.bashrc',
  'x/.env',
  'Makefile',
  'UPPER.PY',
  'n.unknown',
  'a.b/c',
];
const categories = ['auth', 'rate_limit', 'repository', 'model', 'checks', 'budget'];
/** A time within the last 60 days. */
const someTime = `now() - $1::float8 * interval '60 days'`;

const pick = <T>({ random }: History, list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
const projectOf = (id: string) => (id.charCodeAt(id.length - 1) % 2 === 0 ? 'ours' : 'theirs');

type Act = (em: EntityManager, h: History) => Promise<unknown>;

const addTask: Act = async (em, h) => {
  const id = `${h.name}_task${++h.made}`;
  h.tasks.push(id);
  await em.query(`insert into tasks (id, project_id, title, status) values ($1, $2, $1, 'ready')`, [id, projectOf(id)]);
};

const startRun: Act = async (em, h) => {
  const task = pick(h, h.tasks);
  const agent = pick(h, h.lines)?.at(-1);
  if (task === undefined || h.runs.some((r) => r.task === task && r.status !== 'ended')) return;
  const id = `${h.name}_run${++h.made}`;
  h.runs.push({ id, task, status: 'queued' });
  await em.query(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, created_at)
     values ($2, $3, $4, $5, 'start', 'queued', ${someTime})`,
    [h.random(), id, task, projectOf(task), h.random() < 0.05 ? null : agent?.id],
  );
};

const claimRun: Act = async (em, h) => {
  const run = pick(
    h,
    h.runs.filter((r) => r.status === 'queued'),
  );
  if (run === undefined) return;
  // Only one run of an agent in a project may be running.
  const [, claimed] = await em.query(
    `update runs r set status = 'running', started_at = coalesce(started_at, ${someTime}), lease_until = now() + interval '1 day'
     where r.id = $2 and not exists (select from runs o where o.agent_id = r.agent_id and o.status = 'running')`,
    [h.random(), run.id],
  );
  if (claimed === 1) run.status = 'running';
};

const endRun: Act = async (em, h) => {
  const run = pick(
    h,
    h.runs.filter((r) => r.status !== 'ended'),
  );
  if (run === undefined) return;
  run.status = 'ended';
  const status = pick(h, ['succeeded', 'failed', 'failed', 'cancelled']);
  await em.query(
    `update runs set status = $2, finished_at = greatest(${someTime}, started_at), failure = $3 where id = $4`,
    [h.random(), status, status === 'failed' ? { category: pick(h, categories) } : null, run.id],
  );
};

const moveTask: Act = async (em, h) =>
  em.query(`update tasks set status = $2, done_at = case when $2 = 'done' then ${someTime} end where id = $3`, [
    h.random(),
    pick(h, ['done', 'done', 'ready', 'in_review']),
    pick(h, h.tasks),
  ]);

const openPull: Act = async (em, h) => {
  const number = ++h.made;
  h.pulls.push(number);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, additions)
     select t.id, $1, $2, '', 'open', '', '', $3 from tasks t where t.id = $4`,
    [`${h.name}_repo`, number, Math.floor(h.random() * 100), pick(h, h.tasks)],
  );
};

const changePull: Act = async (em, h) =>
  em.query(
    'update pull_requests set status = $1, additions = additions + $2 where repository_id = $3 and number = $4',
    [pick(h, ['merged', 'merged', 'closed', 'open']), h.random() < 0.5 ? 1 : 0, `${h.name}_repo`, pick(h, h.pulls)],
  );

const storeDiff: Act = async (em, h) => {
  const files = Array.from({ length: Math.floor(h.random() * 4) }, () => ({ path: pick(h, paths) }));
  await em.query(
    `insert into diffs (task_id, branch_name, base_branch, head_sha, files) select id, '', '', '', $2 from tasks where id = $1
     on conflict (task_id) do update set files = excluded.files`,
    [pick(h, h.tasks), JSON.stringify(files)],
  );
};

async function addVersionTo(em: EntityManager, h: History, line: Line): Promise<void> {
  const old = line.at(-1);
  const next = { id: `${h.name}_agent${++h.made}`, version: (old?.version ?? 0) + 1 };
  line.push(next);
  await em.query(
    `insert into agents (id, project_id, name, version, previous_version_id, is_newest) values ($1, 'ours', $1, $2, $3, false)`,
    [next.id, next.version, old?.id ?? null],
  );
  await em.query(`update runs set agent_id = $2 where agent_id = $1 and status = 'queued'`, [old?.id, next.id]);
}
const addVersion: Act = async (em, h) => addVersionTo(em, h, pick(h, h.lines) ?? []);

const deleteTask: Act = async (em, h) => {
  const task = pick(h, h.tasks);
  h.tasks = h.tasks.filter((t) => t !== task);
  h.runs = h.runs.filter((r) => r.task !== task);
  await em.query('delete from tasks where id = $1', [task]);
};

/** Deletes the first versions of a line, sometimes all of them. */
const deleteVersions: Act = async (em, h) => {
  const line = pick(h, h.lines) ?? [];
  const gone = line.splice(0, Math.ceil(h.random() * line.length));
  await em.query('delete from agents where id = any($1)', [gone.map((a) => a.id)]);
};

const acts: [number, Act][] = [
  [2, addTask],
  [5, startRun],
  [5, claimRun],
  [6, endRun],
  [4, moveTask],
  [2, openPull],
  [2, changePull],
  [2, storeDiff],
  [0.7, addVersion],
  [0.4, deleteTask],
  [0.2, deleteVersions],
];
/** Each act as often as its weight, in tenths. */
const deck = acts.flatMap(([weight, act]) => Array.from({ length: Math.round(10 * weight) }, () => act));

/**
 * Makes random changes, one to three in each transaction, of which some are rolled back. Returns the agents that are
 * left. The projects `ours` and `theirs` must exist.
 */
export async function makeHistory(
  transaction: (work: (em: EntityManager) => Promise<void>) => Promise<void>,
  seed: number,
): Promise<Line> {
  const h: History = {
    name: `h${seed}`,
    random: seeded(seed),
    lines: [[], []],
    tasks: [],
    runs: [],
    pulls: [],
    made: 0,
  };
  await transaction(async (em) => {
    await em.query(`insert into repositories (id, project_id, name, url) values ($1, 'ours', $1, $1)`, [
      `${h.name}_repo`,
    ]);
    for (const line of h.lines) await addVersionTo(em, h, line);
    for (let i = 0; i < 3; i++) await addTask(em, h);
  });
  for (let i = 0; i < 25; i++) {
    const before = structuredClone({ ...h, random: undefined });
    const isUndone = h.random() < 0.1;
    const undo = new Error('undo');
    await transaction(async (em) => {
      for (let n = Math.ceil(h.random() * 3); n > 0; n--) await pick(h, deck)?.(em, h);
      if (isUndone) throw undo;
    }).catch((error) => {
      if (error !== undo) throw error;
      Object.assign(h, { ...before, random: h.random });
    });
  }
  return h.lines.flat();
}
