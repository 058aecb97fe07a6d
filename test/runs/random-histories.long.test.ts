import fc from 'fast-check';
import type { Approvable } from '../../src/conversation/ending.ts';
import { newId } from '../../src/db/ids.ts';
import type { RunRow } from '../../src/db/tables/run.ts';
import { failure, LeaseLost } from '../../src/domain/run.ts';
import { type Journal, openJournal } from '../../src/runs/journal.ts';
import { followRevisions } from '../../src/runs/operations.ts';
import { endRun } from '../../src/runs/store.ts';
import { park } from '../../src/runs/waiting/park.ts';
import { holdChange, isApproved, listUnread, markRead } from '../../src/runs/waiting/store.ts';
import { tryMoveTask } from '../../src/tasks/move.ts';
import { claimRun } from '../../src/worker/lease/lease-store.ts';
import { openAcme } from '../support/stand-ins/acme.ts';
import { isThorough } from '../support/thorough.ts';

const acme = openAcme();
type People = Awaited<ReturnType<typeof acme.twoPeople>>;

interface Step {
  act: keyof typeof acts;
  who: 'ada' | 'bob';
  /** Chooses among what there is. */
  which: number;
}

/** A worker's claim of a run. After its death, another worker may have the run. */
interface Claimed {
  run: RunRow;
  journal: Journal;
}

/** What has happened so far, as the people and workers of a history know it. */
interface History extends People {
  projectId: string;
  claims: Claimed[];
  ghosts: Claimed[];
  /** What people said to runs and what they asked for: nothing of it may be lost. */
  said: { taskId: string; text: string }[];
  /** The trees that people have approved, each with its run. */
  approved: Set<string>;
  /** Pushes of a run without an approval of exactly that tree. */
  unapproved: string[];
  /** For which tree each run asked last. */
  asked: Map<string, string>;
  count: number;
}

const em = () => acme.service.app.db.manager;
const pick = <T>(from: T[], which: number): T | undefined => from[which % Math.max(1, from.length)];

interface FoundTask {
  id: string;
  status: string;
  failure: object | null;
}

async function tasksOf({ projectId }: History): Promise<FoundTask[]> {
  return em().query('select id, status, failure from tasks where project_id = $1 order by created_at, id', [projectId]);
}

/** What a task waits for when people do these things; they also try them with other tasks. */
const sensible: Record<string, string[]> = {
  answer: ['question'],
  approve: ['plan', 'push'],
  revise: ['plan', 'push', 'in_review'],
  resume: ['paused'],
};

/** Returns the task that somebody does something about. */
async function chosenTask(history: History, { which }: Step, path: string): Promise<FoundTask | undefined> {
  const tasks = await tasksOf(history);
  const waits: { id: string; reason: string }[] = await em().query(
    `select task_id as id, wait_reason as reason from runs where status = 'waiting'`,
  );
  const wanted = sensible[path] ?? [];
  const fitting = tasks.filter(
    ({ id, status }) => wanted.includes(status) || waits.some((each) => each.id === id && wanted.includes(each.reason)),
  );
  return pick(which === 0 || fitting.length === 0 ? tasks : fitting, which);
}

/** Somebody asks for something about a task. Whether it is allowed is not known before. */
async function ask(history: History, step: Step, path: string, body?: object): Promise<boolean> {
  const { who } = step;
  const task = await chosenTask(history, step, path);
  if (task === undefined) return false;
  const before = await records(history);
  const answer = await history.call(who, 'POST', `/tasks/${task.id}/${path}`, body);
  expect([200, 202, 409]).toContain(answer.status);
  const isAccepted = answer.status !== 409;
  const noted = (await records(history)) - before;
  // A refusal leaves no record. What changes nothing, such as a second pause, leaves none either.
  expect(noted).toBeLessThanOrEqual(isAccepted ? 1 : 0);
  if (isAccepted && 'text' in (body ?? {}))
    history.said.push({ taskId: task.id, text: (body as { text: string }).text });
  return isAccepted;
}

async function records({ projectId }: History): Promise<number> {
  const [{ n }] = await em().query(
    'select count(*)::int as n from audit_records where project_id = $1 and actor_id is not null',
    [projectId],
  );
  return n;
}

/** A worker does something with a run that it has claimed. It must not fail, unless somebody has cancelled the run. */
async function work(history: History, { which }: Step, act: (claimed: Claimed) => Promise<boolean>): Promise<void> {
  const claimed = pick(history.claims, which);
  if (claimed === undefined) return;
  const keeps = await act(claimed).catch((error) => {
    if (!(error instanceof LeaseLost)) throw error;
    return false;
  });
  if (!keeps) history.claims = history.claims.filter((each) => each !== claimed);
}

const changeOf = (tree: string): Approvable => ({
  purpose: 'push',
  trees: { repo: tree },
  parents: { repo: [] },
  findings: [],
  expectations: [],
});
const diff = { files: [], truncated: false, branchName: 'agent/x', baseBranch: 'main', headSha: '' };

function wait(history: History, { run, journal }: Claimed, reason: 'question' | 'plan' | 'push' | 'paused', tree = '') {
  const id = newId('wait');
  const plan = reason === 'plan' ? { plan: { markdown: 'P', files: [], checks: [] } } : {};
  return journal.write(async (tx) => {
    if (reason === 'push') {
      await holdChange(tx, run, changeOf(tree), diff);
      history.asked.set(run.id, tree);
      // An approval is for the change for which the run waits now, and for no other.
      for (const each of history.approved)
        if (each.startsWith(`${run.id} `) && each !== `${run.id} ${tree}`) history.approved.delete(each);
    }
    await park(acme.service.app, tx, run, { id, reason, text: 'Well?', options: [], seconds: null, ...plan });
    return false;
  });
}

async function end({ run, journal }: Claimed, isGood: boolean): Promise<boolean> {
  const { app } = acme.service;
  const why = failure('checks', 'they fail');
  await journal.write(async (tx) => {
    await endRun(tx, run.id, isGood ? 'succeeded' : 'failed', isGood ? null : why);
    if (!isGood) await tryMoveTask(app, tx, run.taskId, 'fail', { failure: why });
    else if ((await tryMoveTask(app, tx, run.taskId, 'propose')) === 'in_review')
      await followRevisions(app, tx, run.taskId);
  });
  return false;
}

const acts = {
  create: async (history: History, { who, which }: Step) => {
    // Each agent has one running run at a time.
    const body = { title: 't', owner: history.agents[which]?.id, repositoryId: history.own.id };
    const { status } = await history.call(who, 'POST', `/projects/${history.projectId}/tasks`, body);
    expect(status).toBe(201);
  },
  start: (history: History, step: Step) => ask(history, step, 'start'),
  retry: (history: History, step: Step) => ask(history, step, 'retry'),
  cancel: (history: History, step: Step) => ask(history, step, 'cancel'),
  pause: (history: History, step: Step) => ask(history, step, 'pause'),
  resume: (history: History, step: Step) => ask(history, step, 'resume'),
  say: (history: History, step: Step) => ask(history, step, 'say', { text: `said ${history.count}` }),
  answer: (history: History, step: Step) => ask(history, step, 'answer', { text: `answer ${history.count}` }),
  revise: (history: History, step: Step) => ask(history, step, 'revise', { text: `request ${history.count}` }),
  approve: async (history: History, step: Step) => {
    const task = await chosenTask(history, step, 'approve');
    const [run] = await em().query(`select id, wait_reason from runs where task_id = $1 and status = 'waiting'`, [
      task?.id ?? '',
    ]);
    if ((await ask(history, step, 'approve')) && run?.wait_reason === 'push')
      history.approved.add(`${run.id} ${history.asked.get(run.id)}`);
  },
  /** Somebody acts on something that is no longer there. */
  approveEarlier: async (history: History, step: Step) => {
    expect(await ask(history, step, 'approve', { id: 'wait_of_earlier' })).toBe(false);
  },
  claim: async (history: History) => {
    const found = await claimRun(em(), 3600);
    if (found === undefined) return;
    // Only a run that lost its worker may have been claimed before.
    expect(history.claims.map(({ run }) => run.id)).not.toContain(found.run.id);
    history.claims.push({ run: found.run, journal: openJournal(acme.service.app, found.run) });
  },
  die: async (history: History, { which }: Step) => {
    const dead = pick(history.claims, which);
    if (dead === undefined) return;
    history.claims = history.claims.filter((each) => each !== dead);
    history.ghosts.push(dead);
    await em().query(`update runs set lease_until = now() - interval '1 hour' where id = $1 and status = 'running'`, [
      dead.run.id,
    ]);
  },
  /** A worker that was thought dead goes on. It may do so until another one has the run. */
  haunt: async (history: History, { which }: Step) => {
    const ghost = pick(history.ghosts, which);
    if (ghost === undefined) return;
    const [row] = await em().query('select fence, status from runs where id = $1', [ghost.run.id]);
    const isItsRun = row?.status === 'running' && Number(row.fence) === Number(ghost.run.fence);
    const written = ghost.journal.note('loop', 'still here').then(
      () => true,
      (error) => {
        if (!(error instanceof LeaseLost)) throw error;
        return false;
      },
    );
    expect(await written).toBe(isItsRun);
  },
  hear: (history: History, step: Step) =>
    work(history, step, async ({ run, journal }) => {
      await journal.write(async (tx) => {
        const unread = await listUnread(tx, run.id);
        await markRead(
          tx,
          unread.map(({ id }) => id),
          1,
        );
      });
      return true;
    }),
  question: (history: History, step: Step) => work(history, step, (claimed) => wait(history, claimed, 'question')),
  plan: (history: History, step: Step) => work(history, step, (claimed) => wait(history, claimed, 'plan')),
  push: (history: History, step: Step) =>
    work(history, step, async (claimed) => {
      const tree = step.which === 0 ? 'another tree' : (history.asked.get(claimed.run.id) ?? 'a tree');
      if (!(await isApproved(em(), claimed.run.id, changeOf(tree)))) return wait(history, claimed, 'push', tree);
      await claimed.journal.note('push', tree);
      if (!history.approved.has(`${claimed.run.id} ${tree}`)) history.unapproved.push(`${claimed.run.id} ${tree}`);
      return end(claimed, true);
    }),
  succeed: (history: History, step: Step) => work(history, step, (claimed) => end(claimed, true)),
  fail: (history: History, step: Step) => work(history, step, (claimed) => end(claimed, false)),
  finish: async (history: History, { which }: Step) => {
    const task = pick(await tasksOf(history), which);
    const { app } = acme.service;
    if (task?.status === 'in_review') await em().transaction((tx) => tryMoveTask(app, tx, task.id, 'to_done'));
  },
};

type FoundRun = RunRow & { taskId: string };

/** What holds after each step, whatever has happened. */
async function check(history: History): Promise<void> {
  const tasks = await tasksOf(history);
  const runs: FoundRun[] = await em().query(
    `select id, task_id as "taskId", status, wait_reason as "waitReason", pause_text as "pauseText",
       lease_until as "leaseUntil", finished_at as "finishedAt", resume_at as "resumeAt"
     from runs where project_id = $1`,
    [history.projectId],
  );
  for (const { id, status, failure } of tasks) {
    const live = runs.filter((run) => run.taskId === id && run.finishedAt === null);
    // One run works for a task in progress, and none for any other.
    expect([status, live.length]).toEqual([status, status === 'in_progress' ? 1 : 0]);
    expect([status, failure !== null && status !== 'ready']).toEqual([status, false]);
  }
  for (const run of runs) leavesNothing(run);
  await inboxIsExact(history, tasks, runs);
  // Nothing that nobody has approved is pushed.
  expect(history.unapproved).toEqual([]);
  await nothingSaidIsLost(history, tasks);
}

/** Leaving a state leaves nothing behind. */
function leavesNothing({ status, leaseUntil, waitReason, resumeAt, pauseText }: FoundRun): void {
  expect([status, leaseUntil !== null]).toEqual([status, status === 'running']);
  expect([status, waitReason !== null && status === 'running']).toEqual([status, false]);
  expect([status, resumeAt !== null && status !== 'waiting']).toEqual([status, false]);
  expect([status, pauseText !== null && status === 'waiting']).toEqual([status, false]);
}

async function inboxIsExact(history: History, tasks: FoundTask[], runs: FoundRun[]): Promise<void> {
  const ofTask = ({ id, status, failure }: FoundTask) =>
    status === 'in_review' ? [`${id} review`] : failure === null ? [] : [`${id} failed`];
  const ofRun = ({ taskId, status, waitReason }: FoundRun) => (status === 'waiting' ? [`${taskId} ${waitReason}`] : []);
  const due = [...tasks.flatMap(ofTask), ...runs.flatMap(ofRun)].sort();
  for (const who of ['ada', 'bob'] as const) {
    const { body } = await history.call(who, 'GET', '/me/inbox?scope=all');
    expect(body.map((each: { taskId: string; reason: string }) => `${each.taskId} ${each.reason}`).sort()).toEqual(due);
  }
}

/** What people said has been read, waits for a run that is there, or belongs to a later run of the task. */
async function nothingSaidIsLost({ said }: History, tasks: FoundTask[]): Promise<void> {
  const kept: { text: string }[] = await em().query(
    `select m.text from run_messages m join runs r on r.id = m.run_id where m.turn is not null or r.finished_at is null
     union all select text from revisions union all select instructions from runs`,
  );
  const open = new Set(tasks.filter(({ status }) => status !== 'done').map(({ id }) => id));
  const lost = said.filter(({ taskId, text }) => open.has(taskId) && !kept.some((each) => each.text.includes(text)));
  expect(lost).toEqual([]);
}

/** What moves a history on comes more often, so that most histories reach every state. */
const often: (keyof typeof acts)[] = [
  ...(['start', 'claim', 'claim', 'claim', 'claim', 'push', 'push', 'push', 'approve', 'approve', 'approve'] as const),
  ...(['question', 'answer', 'plan', 'revise', 'pause', 'resume'] as const),
];
const steps = fc.array(
  fc.record<Step>({
    act: fc.constantFrom(...(Object.keys(acts) as (keyof typeof acts)[]), ...often),
    who: fc.constantFrom('ada', 'bob'),
    which: fc.nat(2),
  }),
  { minLength: 60, maxLength: 100, size: 'max' },
);

test('whatever people, agents and dying workers do to tasks, nothing is lost, doubled, left behind or pushed unseen', async () => {
  const reached = new Set<string>();
  const play = async (history: Step[]) => {
    const people = await acme.twoPeople();
    await em().query('delete from tasks');
    const state: History = {
      ...people,
      claims: [],
      ghosts: [],
      said: [],
      approved: new Set(),
      unapproved: [],
      asked: new Map(),
      count: 0,
    };
    for (const step of [{ act: 'create', who: 'ada', which: 0 } as const, ...history]) {
      state.count++;
      await acts[step.act](state, step);
      await check(state);
    }
    for (const { text } of state.said) reached.add(text.split(' ')[0] ?? '');
    for (const { type } of await em().query('select distinct type from run_events')) reached.add(type);
  };
  // The same histories each time; a thorough run makes up others.
  await fc.assert(fc.asyncProperty(steps, play), isThorough ? { numRuns: 200 } : { numRuns: 10, seed: 2 });
  expect([...reached].sort()).toEqual(
    expect.arrayContaining([
      'answer',
      'approved',
      'answered',
      'push',
      'pausing',
      'request',
      'resumed',
      'revised',
      'said',
    ]),
  );
});
