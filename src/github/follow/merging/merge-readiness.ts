import { z } from 'zod';
import type { App } from '../../../app.ts';
import type { RepositoryRow } from '../../../db/tables/project.ts';
import type { PullRequestRow } from '../../../db/tables/task.ts';
import { hasRole, type Role } from '../../../domain/agent.ts';
import { type MergeProblem, mergeProblems, type PullReadiness } from '../../../domain/merge-readiness.ts';
import { taskStatuses } from '../../../domain/task.ts';
import { AppError } from '../../../errors.ts';
import { RateLimited } from '../../../outgoing/github-errors.ts';
import { credentialFor, noCredential, octokitFor } from '../../../repositories/credentials.ts';
import { listDropped } from '../../../repositories/merging/store.ts';
import { rightProblemIn } from '../../../repositories/rights.ts';
import { listRepositoriesById } from '../../../repositories/store.ts';
import { listRunChecks } from '../../../runs/journal.ts';
import { findProof } from '../../../runs/proof/proof-store.ts';
import { findLiveRun } from '../../../runs/store.ts';
import { findOtherProblem } from '../../../runs/waiting/approvers.ts';
import { listDependents } from '../../../sprints/advance-sprint.ts';
import { listLatestRuns, listOpenPulls } from '../../../tasks/work-store.ts';
import { httpStatusOf } from '../../app/place.ts';
import { lookAtPull, type SeenPull, TooMuch } from '../look-at-pull.ts';

/** More results than this are not kept. */
const maxKept = 500;

interface Cached<T> {
  at: number;
  result: Promise<T>;
}

/** Returns a function that does the work for a key at most once in `ms`, for all callers. It does not keep failures. */
export function rememberFor<T>(ms: number, now: () => number = Date.now) {
  const all = new Map<string, Cached<T>>();
  return (key: string, work: () => Promise<T>): Promise<T> => {
    for (const [old, { at }] of all) {
      // The map is in the order in which the work began.
      if (now() - at < ms && all.size < maxKept) break;
      all.delete(old);
    }
    const known = all.get(key);
    if (known !== undefined) return known.result;
    const kept = { at: now(), result: work() };
    all.set(key, kept);
    kept.result.catch(() => {
      if (all.get(key) === kept) all.delete(key);
    });
    return kept.result;
  };
}

const Check = z
  .object({
    name: z.string(),
    outcome: z.enum(['passed', 'failed', 'running', 'skipped']),
    url: z.string().nullable(),
    required: z.boolean().meta({ description: 'whether the base branch requires it' }),
  })
  .meta({ id: 'PullRequestCheck' });

const Review = z
  .object({ login: z.string(), state: z.enum(['approved', 'changes_requested']) })
  .meta({ id: 'PullRequestReview', description: 'The latest decision of a reviewer' });

const Pull = z
  .object({
    repositoryName: z.string(),
    prUrl: z.string(),
    prNumber: z.int(),
    status: z.enum(['draft', 'open']),
    headSha: z.string().meta({ description: 'the commit that will be merged' }),
    method: z.enum(['squash', 'merge', 'rebase']).nullable().meta({ description: 'how it will be merged' }),
    baseBranch: z.string().nullable(),
    mergeable: z.boolean().nullable().meta({ description: 'null while GitHub computes whether there are conflicts' }),
    checks: z.array(Check).nullable().meta({ description: 'null without permission to read them' }),
    reviews: z.array(Review).nullable(),
    review: z
      .enum(['required', 'approved', 'changes_requested'])
      .nullable()
      .meta({ description: 'what the reviews amount to; null where the base branch requires none' }),
    missingOwners: z
      .array(z.object({ owners: z.array(z.string()), paths: z.array(z.string()), count: z.int() }))
      .nullable()
      .meta({
        description:
          'the code owners who have not reviewed it, with the number of their files and the first ones; one owner of each group is enough. Null when it is not known',
      }),
    error: z.string().nullable().meta({ description: 'why it could not be read from GitHub' }),
  })
  .meta({ id: 'PullRequestReadiness' });

export const MergeReadiness = z
  .object({
    pullRequests: z.array(Pull).meta({ description: 'the open pull requests, in the order in which they are merged' }),
    runChecks: z
      .array(z.object({ name: z.string(), passed: z.boolean() }))
      .meta({ description: 'the last results of the checks in the latest run that had any' }),
    dependents: z
      .array(
        z.object({
          id: z.string(),
          title: z.string(),
          status: z.enum(taskStatuses),
          starts: z.boolean().meta({ description: 'whether the active sprint starts it when this task is done' }),
        }),
      )
      .meta({ description: 'the open tasks that depend on this one, at most 30' }),
    problems: z.array(z.object({ text: z.string(), blocks: z.boolean() })).meta({
      description: 'problems such as failed checks or missing reviews; a merge is refused while a problem `blocks` it',
    }),
  })
  .meta({ id: 'MergeReadiness' });

/** How long GitHub may take for one pull request. A page waits for it. */
const limitMs = 8000;
/** How long an answer from GitHub is reused, because open pages ask repeatedly. */
const keptMs = 15_000;
/** More pull requests than this are not read. */
const maxPulls = 10;

type Reading = SeenPull & { error: string | null };

const unread = {
  ...{ method: null, baseBranch: null, mergeable: null, isBlocked: false, checks: null, reviews: null },
  ...{ review: null, missingOwners: null, needsOwners: false },
};
const recently = rememberFor<Reading>(keptMs);

const refusalsRecently = rememberFor<MergeProblem[]>(keptMs);

/** Returns what a merge of a task by a person will do, and any problems with it. Reads GitHub within a time limit. */
export async function readMergeReadiness(app: App, taskId: string, person: Person) {
  const em = app.db.manager;
  const pulls = await listOpenPulls(em, taskId);
  const repositories = await listRepositoriesById(
    em,
    pulls.map((pull) => pull.repositoryId),
  );
  const [readings, ofPerson, liveRun, proof, runChecks, dependents, [latestRun], dropped] = await Promise.all([
    Promise.all(pulls.map((pull, i) => readingOf(app, pull, repositories, i))),
    refusalsOf(app, taskId, person, repositories),
    findLiveRun(em, taskId),
    findProof(em, taskId),
    listRunChecks(em, taskId),
    listDependents(em, taskId),
    listLatestRuns(em, taskId, 1),
    listDropped(em, taskId),
  ]);
  const pullRequests = pulls.map((pull, i) => ({
    ...(readings[i] as Reading),
    repositoryName: repositories.find(({ id }) => id === pull.repositoryId)?.name ?? '',
    prUrl: pull.url,
    prNumber: pull.number,
    status: pull.status as 'draft' | 'open',
    headSha: pull.headSha,
  }));
  const facts = pullRequests.map(
    (pull, i): PullReadiness => ({
      ...pull,
      name: `${pull.repositoryName} #${pull.prNumber}`,
      isDraft: pull.status === 'draft',
      isUnready: pulls[i]?.unreadySha === pulls[i]?.headSha,
      moved: movedOf(
        pull.baseBranch,
        pulls[i]?.baseBranch ?? repositories.find(({ id }) => id === pulls[i]?.repositoryId)?.defaultBranch,
      ),
    }),
  );
  const problems = mergeProblems({
    hasLiveRun: liveRun !== null,
    changedNothing: latestRun?.changedNothing ?? false,
    pulls: facts,
    proof,
    dropped: dropped.map(({ why }) => why),
    ofPerson,
  });
  return { pullRequests, runChecks, dependents, problems };
}

interface Person {
  id: string;
  role: Role;
}

/** Says why a merge by a person is refused before GitHub is asked to merge. Viewers are not offered a merge. */
async function refusalsOf(app: App, taskId: string, { id, role }: Person, repositories: RepositoryRow[]) {
  if (!hasRole(role, 'member')) return [];
  const repositoryIds = repositories.map((each) => each.id);
  return refusalsRecently(`${id} ${taskId} ${repositoryIds}`, async () => {
    const [right, other] = await Promise.all([
      rightProblemWithin(app, id, repositoryIds),
      findOtherProblem(app.db.manager, taskId, id),
    ]);
    const refusals: MergeProblem[] = [];
    if (right?.status === 403) refusals.push({ text: `${right.message} Somebody who has it can merge.`, blocks: true });
    else if (right !== undefined) refusals.push({ text: right.message, blocks: false });
    // The repository may say something else by now, so this only warns.
    if (other !== undefined) refusals.push({ text: other, blocks: false });
    return refusals;
  });
}

async function rightProblemWithin(app: App, userId: string, repositoryIds: string[]): Promise<AppError | undefined> {
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(limitMs)]);
  try {
    return await Promise.race([rightProblemIn(app, [userId], repositoryIds, 'write'), aborted(signal)]);
  } catch (error) {
    if (!signal.aborted) throw error;
    return new AppError(502, `GitHub did not say within ${limitMs / 1000} s whether you may merge.`);
  }
}

function movedOf(to: string | null, from: string | undefined): PullReadiness['moved'] {
  return to === null || from === undefined || to === from ? null : { to, from };
}

async function readingOf(
  app: App,
  pull: PullRequestRow,
  repositories: RepositoryRow[],
  index: number,
): Promise<Reading> {
  const repository = repositories.find(({ id }) => id === pull.repositoryId);
  if (repository === undefined || index >= maxPulls)
    return { ...unread, error: `only the first ${maxPulls} pull requests are read.` };
  // The key has the commit, so that after a push nothing about the earlier commit is shown.
  return recently(`${pull.repositoryId} ${pull.number} ${pull.headSha}`, () => look(app, pull, repository));
}

/** Reads a pull request. Never throws, because the others and everything else can still be shown. */
async function look(app: App, pull: PullRequestRow, repository: RepositoryRow): Promise<Reading> {
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(limitMs)]);
  const read = async () => {
    const credential = await credentialFor(app, repository);
    if (credential.kind === 'none') throw noCredential();
    const name = { owner: credential.owner, repo: credential.repo };
    return lookAtPull(await octokitFor(app, credential), name, pull, signal);
  };
  try {
    return { ...(await Promise.race([read(), aborted(signal)])), error: null };
  } catch (error) {
    app.log.info({ err: error, pull: pull.url }, 'a pull request could not be read');
    return { ...unread, error: reasonOf(error, signal) };
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Returns the end of a sentence that says why GitHub could not be read. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return `it did not respond within ${limitMs / 1000} s.`;
  if (error instanceof TooMuch) return error.message;
  if (error instanceof AppError || error instanceof RateLimited) return `${error.message}.`;
  const status = httpStatusOf(error);
  return status === 0 || status >= 500 ? 'it did not respond.' : `it answered with status ${status}.`;
}
