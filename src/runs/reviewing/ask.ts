import type { EntityManager } from 'typeorm';
import { modelOfRun } from '../../agents/model.ts';
import { findAgent, findAgentsByName, findBuiltInAgent } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { lockUntilCommit } from '../../db/locks.ts';
import type { AgentRow, RepositoryRow } from '../../db/tables/project.ts';
import type { RunRow } from '../../db/tables/run.ts';
import { Refused } from '../../domain/machine.ts';
import { RunFailed } from '../../domain/run.ts';
import { oneLine, storableText } from '../../domain/text/sanitize.ts';
import { AppError } from '../../errors.ts';
import type { Jobs } from '../../queue/names.ts';
import { lackOfRight } from '../../repositories/rights.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { settingsOnGitHub } from '../../repositories/settings/settings-on-github.ts';
import { findRepository } from '../../repositories/store.ts';
import { moveTask } from '../../tasks/move.ts';
import { insertTask } from '../../tasks/operations.ts';
import { setTaskFields } from '../../tasks/store.ts';
import { storeCancelHandoff } from '../handoffs.ts';
import { concludeRun } from '../journal.ts';
import { findLiveRun, findRun, insertRun, lockRun } from '../store.ts';
import { assertHeadSeen, isFork, type ReadPull, readPull } from './read-pull.ts';
import {
  countAsksToday,
  countRepeats,
  findAsk,
  findTaskOfReviewed,
  insertAsk,
  insertReviewed,
  type PullRef,
  type PurposeOfHidden,
} from './store.ts';

/** What an agent is asked to do for a pull request of somebody else. */
export interface AskingAboutPull {
  repository: RepositoryRow;
  number: number;
  kind: 'review' | 'fix';
  /** The user who asked; null when the repository wants a review of every pull request. */
  askedBy: string | null;
  isAutomatic?: boolean;
  /** When the person asked; undefined where that is now. */
  writtenAt?: Date | undefined;
  /** What the person wrote about it. */
  instructions?: string;
  /** Called in the same transaction, after the run is queued. */
  also?: ((em: EntityManager) => Promise<void>) | undefined;
}

/** Characters of the text of a pull request that are kept. */
export const maxBody = 20_000;

/**
 * Queues a run that reviews a pull request, or fixes something on its branch. At most one run of a pull request is live: a
 * review of an older head is cancelled.
 * @throws Refused when the pull request or the repository forbids it; AppError 404 for an unknown pull request, 429 beyond the
 * limit of the day, 502 when GitHub cannot be asked, 503 when a model or a git credential is missing
 */
export async function askAboutPull(app: App, asking: AskingAboutPull): Promise<RunRow> {
  const { repository, number, kind, askedBy } = asking;
  const read = await readPull(app, repository, number);
  if (read.pull.state !== 'open') throw new Refused(`Pull request ${number} is closed. Reopen it first.`);
  if (isFork(read.pull)) await assertHeadSeen(app, repository, read.pull, asking.writtenAt);
  const settings = await settingsFor(read);
  if (kind === 'review' && settings.review === 'off')
    throw new Refused('Reviews are switched off here: `review` in .deckhand.yml on the default branch is off.');
  const agent = await agentFor(app, asking, settings);
  await modelOfRun(app, agent, repository.projectId);
  // What was pushed to a fork since a person asked is not what they asked about, so its commands do not run.
  const byWriter = askedBy !== null && !isRepeatOfFork(asking, read) && (await mayWrite(app, askedBy, repository));
  const runId = await app.db.transaction((em) => queueIn(app, em, asking, { ...read, agent, byWriter }));
  const run = await findRun(app.db.manager, runId);
  if (run === null) throw new Refused('The pull request was forgotten at the same moment. Ask again.');
  return run;
}

/** Whether a review begins again because somebody pushed to a fork, which may be anybody. */
function isRepeatOfFork({ askedBy, isAutomatic = false }: AskingAboutPull, { pull }: Pick<ReadPull, 'pull'>): boolean {
  return isAutomatic && askedBy !== null && isFork(pull);
}

/** So often a review begins again by itself when somebody pushes to a fork. */
const maxRepeats = 2;

/** @throws Refused when whoever pushes to a fork has made a review begin again often enough */
async function assertMayRepeat(em: EntityManager, asking: AskingAboutPull, found: Pick<ReadPull, 'pull'>) {
  if (!isRepeatOfFork(asking, found)) return;
  const { repository, number } = asking;
  if ((await countRepeats(em, { repositoryId: repository.id, number })) < maxRepeats) return;
  throw new Refused(
    `The fork got commits during ${maxRepeats + 1} reviews of pull request ${number}. Ask again when its author has finished.`,
  );
}

/** @throws Refused when the settings of the repository cannot be used */
export async function settingsFor({ octokit, name }: ReadPull): Promise<RepositorySettings> {
  return settingsOnGitHub(octokit, name).catch((error) => {
    if (error instanceof RunFailed) throw new Refused(error.message);
    throw error;
  });
}

export async function mayWrite(app: App, userId: string, repository: RepositoryRow): Promise<boolean> {
  return (await lackOfRight(app, [userId], repository, 'write').catch(() => 'unknown')) === undefined;
}

/** The Reviewer reviews. Fixes are made by the agent that the repository names, otherwise by the Developer. */
async function agentFor(
  app: App,
  { repository: { projectId }, kind, askedBy }: AskingAboutPull,
  settings: RepositorySettings,
): Promise<Pick<AgentRow, 'id' | 'model'>> {
  const em = app.db.manager;
  if (kind === 'fix' && settings.agent !== undefined) {
    const [named] = await findAgentsByName(em, settings.agent, projectId, askedBy);
    const found = named === undefined ? null : await findAgent(em, named.id);
    if (found !== null) return found;
  }
  const [first, second] =
    kind === 'review' ? (['reviewer', 'developer'] as const) : (['developer', 'reviewer'] as const);
  const agent = (await findBuiltInAgent(em, projectId, first)) ?? (await findBuiltInAgent(em, projectId, second));
  if (agent === null) throw new Refused('The built-in Reviewer and Developer of this project were deleted.');
  return agent;
}

interface Found extends ReadPull {
  agent: Pick<AgentRow, 'id'>;
  byWriter: boolean;
}

async function queueIn(app: App, em: EntityManager, asking: AskingAboutPull, found: Found): Promise<string> {
  const { repository, number, kind, askedBy, isAutomatic = askedBy === null, instructions = '', also } = asking;
  const { pull, agent, byWriter } = found;
  const at = { repositoryId: repository.id, number };
  await lockUntilCommit(em, 'reviews', repository.id);
  await assertBelowLimit(app, em, at.repositoryId);
  await assertMayRepeat(em, asking, found);
  const title = oneLine(storableText(pull.title), 150);
  const taskId =
    (await findTaskOfReviewed(em, at, 'agents')) ?? (await insertHidden(app, em, asking, 'agents', pull.html_url));
  await endOlder(app, em, taskId, { kind, headSha: pull.head.sha });
  await setTaskFields(em, taskId, { title: `#${number} ${title}`, owner: agent.id, base: pull.base.ref });
  await moveTask(app, em, taskId, 'review');
  const runId = await insertRun(em, {
    taskId,
    projectId: repository.projectId,
    agentId: agent.id,
    startedBy: askedBy,
    isAutomatic,
    directedBy: askedBy === null ? [] : [askedBy],
    kind,
    instructions,
  });
  await insertAsk(em, {
    ...at,
    runId,
    headSha: pull.head.sha,
    headBranch: pull.head.ref,
    baseBranch: pull.base.ref,
    isFork: isFork(pull),
    byWriter,
    title,
    body: storableText(pull.body ?? '').slice(0, maxBody),
    author: pull.user?.login ?? null,
  });
  await app.queue.send(em, 'run', {});
  app.audit.note({
    pullRequest: [null, pull.html_url],
    run: [null, runId],
    ...(instructions === '' ? {} : { instructions: [null, instructions] }),
  });
  await also?.(em);
  return runId;
}

/** @throws AppError 429 */
async function assertBelowLimit(app: App, em: EntityManager, repositoryId: string): Promise<void> {
  const most = app.config.MAX_REVIEWS_PER_DAY;
  if ((await countAsksToday(em, repositoryId)) < most) return;
  throw new AppError(
    429,
    `This repository had ${most} reviews and fixes today (UTC), which is the limit. Try again tomorrow, or ask the operator to raise MAX_REVIEWS_PER_DAY.`,
  );
}

/** Creates the task to which all runs for one purpose about a pull request belong. No list shows it. */
export async function insertHidden(
  app: App,
  em: EntityManager,
  { repository, number }: Pick<AskingAboutPull, 'repository' | 'number'>,
  purpose: PurposeOfHidden,
  url: string,
): Promise<string> {
  const id = await insertTask(app, em, repository.projectId, {
    title: `#${number}`,
    description: purpose === 'agents' ? `What agents do for ${url}.` : `What the tests of ${url} prove.`,
    status: 'ready',
    repositoryId: repository.id,
    createdBy: null,
    planFirst: false,
    hidden: true,
  });
  await insertReviewed(em, { repositoryId: repository.id, number }, purpose, id);
  return id;
}

/**
 * Cancels a live review of an older head, because nobody would read it.
 * @throws Refused when the same was asked already, or an agent works on the branch
 */
async function endOlder(
  app: App,
  em: EntityManager,
  taskId: string,
  { kind, headSha }: { kind: AskingAboutPull['kind']; headSha: string },
): Promise<void> {
  const found = await findLiveRun(em, taskId);
  if (found === null) return;
  // A run that ends locks the run first and then its task. Using the same order here prevents a deadlock.
  await lockRun(em, found.id);
  const live = await findLiveRun(em, taskId);
  if (live === null) return;
  if (live.kind === 'fix') throw new Refused('An agent works on this branch. Wait until it has ended, then ask again.');
  const ask = await findAsk(em, live.id);
  if (kind === 'review' && ask?.headSha === headSha)
    throw new Refused('This commit is being reviewed. Wait until the review has ended.');
  await cancelLive(app, em, live, 'A newer request took the place of this one.');
}

/** Cancels the live run of a hidden task. Lock the run first. */
export async function cancelLive(app: App, em: EntityManager, live: RunRow, why: string): Promise<void> {
  await moveTask(app, em, live.taskId, 'cancel');
  if (await concludeRun(app, em, live, 'cancelled')) await storeCancelHandoff(app, em, live, why);
  app.db.afterCommit(() => app.liveRuns.abort(live.id));
}

/** Returns the live review of a pull request, if there is one. */
export async function findLiveReview(em: EntityManager, at: PullRef): Promise<RunRow | undefined> {
  const taskId = await findTaskOfReviewed(em, at, 'agents');
  const live = taskId === undefined ? null : await findLiveRun(em, taskId);
  return live?.kind === 'review' ? live : undefined;
}

/** Reviews a pull request again that got newer commits while a run reviewed it, on behalf of whoever asked for that run. */
export async function reviewAgain(app: App, { repositoryId, number, after }: Jobs['review']): Promise<void> {
  const em = app.db.manager;
  const repository = await findRepository(em, repositoryId);
  const before = await findRun(em, after);
  if (repository === null || before === null) return;
  const { startedBy: askedBy, instructions } = before;
  await unlessRefused(
    app,
    askAboutPull(app, { repository, number, kind: 'review', askedBy, instructions, isAutomatic: true }),
  );
}

/** Waits for a request that nobody waits for. What the state forbids is logged; everything else is thrown. */
export async function unlessRefused(app: App, asked: Promise<unknown>): Promise<void> {
  await asked.catch((error) => {
    const isExpected = error instanceof Refused || (error instanceof AppError && error.status !== 502);
    if (!isExpected) throw error;
    app.log.info({ err: error }, 'a pull request is not reviewed');
  });
}
