import type { EntityManager } from 'typeorm';
import { findAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import type { RunRow } from '../db/tables/run.ts';
import { Refused } from '../domain/machine.ts';
import type { AppError } from '../errors.ts';
import { type GitHubUser, upsertUser } from '../projects/store.ts';
import { lackOfRight, rightProblem, rightProblemIn } from '../repositories/rights.ts';
import { openedPrefix } from '../repositories/store.ts';
import { findRewriting, type TaskView } from '../tasks/store.ts';
import { listLatestRuns } from '../tasks/work-store.ts';
import { deleteStep, findStep, insertStep, type Journal, listStepNames } from './journal.ts';
import { findRun, listDirectorsOfTask } from './store.ts';

// The directors of a run are the people whose words it follows: who started it, or put its task where it starts by
// itself, who asked for the changes that it takes up, whose comments it takes as instructions, who spoke to its agent,
// who made this agent for themselves, and the directors of the runs whose handoffs it reads. All of them may write to
// every repository whose content the run has, except that of its task. Both sides are asked of GitHub: all directors when
// the run opens a repository, and everybody who wants to become a director of a run that has opened some.

/** Returns the directors of a run. */
export async function directorsOf(em: EntityManager, runId: string): Promise<string[]> {
  return (await findRun(em, runId))?.directedBy ?? [];
}

/** Whose words a run follows from its beginning. */
interface Beginning {
  /** The person who started it, or who added its task to a sprint. */
  starters: string[];
  /** The requests for changes that it takes up. */
  waiting: { askedBy: string | null }[];
  /** The run to whose turn it goes back. Every other run reads the handoffs of all earlier runs of its task. */
  rewoundTo: string | undefined;
}

/** Returns the directors of a run of a task that is queued now. Admins maintain the agents of a project, so they are none. */
export async function directorsAtStart(
  em: EntityManager,
  { id, owner }: Pick<TaskView, 'id' | 'owner'>,
  { starters, waiting, rewoundTo }: Beginning,
): Promise<string[]> {
  const agent = owner === null ? null : await findAgent(em, owner);
  const maker = agent?.projectId === null ? agent.creatorId : null;
  const before = rewoundTo === undefined ? await listDirectorsOfTask(em, id) : await directorsOf(em, rewoundTo);
  const all = [...starters, ...waiting.map(({ askedBy }) => askedBy), ...before, maker];
  return [...new Set(all.filter((id) => id !== null))];
}

/** Among this many latest runs of a task, one that was not rewound is searched for. Without one, its writer counts. */
const maxRewinds = 50;

/**
 * Returns who wrote what a task says, for a person who takes it up without seeing that: who rewrote it since its last run, or
 * everybody who answers for it if there was none.
 */
export async function listUnseenWriters(
  em: EntityManager,
  { id, directedBy }: Pick<TaskView, 'id' | 'directedBy'>,
): Promise<string[]> {
  // A rewound run begins with the text that its task had earlier.
  const last = (await listLatestRuns(em, id, maxRewinds)).find((run) => run.kind !== 'rewind');
  const rewriting = await findRewriting(em, id);
  if (rewriting === undefined) return last === undefined ? directedBy : [];
  return last === undefined || rewriting.at >= last.createdAt ? [rewriting.userId] : [];
}

/** Records that a run has the content of a repository. */
export async function noteOpened({ journal }: { journal: Journal }, repositoryId: string): Promise<void> {
  await journal.once(openedPrefix + repositoryId, async () => ({}));
}

type Entering = Pick<Admitting, 'run' | 'journal'>;

/**
 * Records that a run opens a repository. Returns why it may not; then nothing is recorded. The step is recorded before
 * GitHub is asked, so that nobody without the right can become a director at the same moment.
 */
export async function enterRepository(
  app: App,
  entering: Entering,
  repository: RepositoryRow,
): Promise<AppError | undefined> {
  return enterIf(entering, repository, (directors) => rightProblem(app, directors, repository, 'write'));
}

/**
 * Like `enterRepository`, for what a run should not miss only because GitHub cannot be asked.
 * @throws the error of GitHub when it cannot be asked
 */
export async function lackOfEntry(
  app: App,
  entering: Entering,
  repository: RepositoryRow,
): Promise<string | undefined> {
  return enterIf(entering, repository, (directors) => lackOfRight(app, directors, repository, 'write'));
}

async function enterIf<T>(
  { run, journal }: Entering,
  { id }: RepositoryRow,
  problemOf: (directors: string[]) => Promise<T | undefined>,
): Promise<T | undefined> {
  const step = openedPrefix + id;
  const { isNew, directors } = await journal.write(async (em) => {
    const isNew = (await findStep(em, run.id, step)) === undefined;
    if (isNew) await insertStep(em, run.id, step, {});
    return { isNew, directors: await directorsOf(em, run.id) };
  });
  let mayEnter = false;
  try {
    const problem = await problemOf(directors);
    mayEnter = problem === undefined;
    return problem;
  } finally {
    if (!mayEnter && isNew) await journal.write((em) => deleteStep(em, run.id, step));
  }
}

/** Returns the ids of the repositories whose content a run has, without that of its task. */
export async function listOpened(em: EntityManager, runId: string, ownId: string | null): Promise<string[]> {
  const names = await listStepNames(em, runId, openedPrefix);
  return names.map((name) => name.slice(openedPrefix.length)).filter((id) => id !== ownId);
}

/** Returns the repositories that each run of some tasks has opened. Those of the tasks may be among them. */
export async function listOpenedOfTasks(em: EntityManager, taskIds: string[]) {
  const rows: { runId: string; repositoryId: string }[] = await em.query(
    `select s.run_id as "runId", substr(s.name, length($2) + 1) as "repositoryId"
     from runs r join run_steps s on s.run_id = r.id where r.task_id = any($1) and starts_with(s.name, $2)`,
    [taskIds, openedPrefix],
  );
  return rows;
}

/** Returns the repositories that a run had opened whose model wrote the text of a task; none for other tasks. */
export async function sourcesOfText(
  em: EntityManager,
  { parentId, createdBy }: Pick<TaskView, 'parentId' | 'createdBy'>,
): Promise<string[]> {
  if (parentId === null || createdBy !== null) return [];
  return (await listOpenedOfTasks(em, [parentId])).map(({ repositoryId }) => repositoryId);
}

/** Returns the repositories whose content the title and the description of a task may repeat. */
export async function listTextPlaces(em: EntityManager, taskId: string): Promise<string[]> {
  const rows: { ids: string[] }[] = await em.query('select text_repository_ids as ids from tasks where id = $1', [
    taskId,
  ]);
  return rows[0]?.ids ?? [];
}

/**
 * Makes a person a director of a run, in the caller's transaction, which has locked the run. `checked` are the
 * repositories in which they may write.
 * @throws Refused if the run has opened another one since then
 */
export async function addDirector(
  em: EntityManager,
  { runId, ownId, userId, checked }: { runId: string; ownId: string | null; userId: string; checked: string[] },
): Promise<void> {
  const opened = await listOpened(em, runId, ownId);
  if (opened.some((id) => !checked.includes(id)))
    throw new Refused('The run has just opened another repository. Try again.');
  await em.query(
    `update runs set directed_by = directed_by || to_jsonb($2::text) where id = $1 and not directed_by ? $2`,
    [runId, userId],
  );
}

interface Admitting {
  run: Pick<RunRow, 'id'>;
  task: Pick<TaskView, 'repositoryId'>;
  journal: Journal;
}

/**
 * Makes people directors of the run of this worker, except those who may not write to what it has opened. Returns the ids
 * on GitHub of those who are directors now.
 */
export async function admitToRun(app: App, work: Admitting, people: GitHubUser[]): Promise<Set<number>> {
  const ids = new Map<string, number>();
  for (const person of people) ids.set((await upsertUser(app.db.manager, person)).id, Number(person.id));
  const admitted = await admitUsers(app, work, [...ids.keys()]);
  return new Set(admitted.map((userId) => ids.get(userId) as number));
}

/** Like `admitToRun`, for people who are known by the ids of their users here. Returns these ids. */
export async function admitUsers(
  app: App,
  { run, task: { repositoryId: ownId }, journal }: Admitting,
  userIds: string[],
): Promise<string[]> {
  const checked = await listOpened(app.db.manager, run.id, ownId);
  const admitted: string[] = [];
  for (const userId of new Set(userIds))
    if ((await rightProblemIn(app, [userId], checked, 'write')) === undefined) admitted.push(userId);
  if (admitted.length > 0)
    await journal.write(async (em) => {
      for (const userId of admitted) await addDirector(em, { runId: run.id, ownId, userId, checked });
    });
  return admitted;
}
