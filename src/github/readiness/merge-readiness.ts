import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import type { PullRequestRow } from '../../db/tables/task.ts';
import { mergeProblems, type PullReadiness } from '../../domain/merge-readiness.ts';
import { AppError } from '../../errors.ts';
import { RateLimited } from '../../outgoing/github-errors.ts';
import { credentialFor, noCredential, octokitFor } from '../../repositories/credentials.ts';
import { listRepositoriesById } from '../../repositories/store.ts';
import { listRunChecks } from '../../runs/lease/journal-store.ts';
import { findProof } from '../../runs/proof/store.ts';
import { findLiveRun } from '../../runs/store.ts';
import { listDependents } from '../../sprints/advance-store.ts';
import { listOpenPulls } from '../../tasks/work-store.ts';
import { httpStatusOf } from '../place.ts';
import { lookAtPull, type SeenPull } from './look-at-pull.ts';
import { rememberFor } from './recent.ts';

/** How long GitHub may take for one pull request. A page waits for it. */
const limitMs = 8000;
/** How long an answer from GitHub is reused, because open pages ask repeatedly. */
const keptMs = 15_000;
/** More pull requests than this are not read. */
const maxPulls = 10;

type Reading = SeenPull & { error: string | null };

const unread = { method: null, baseBranch: null, mergeable: null, isBlocked: false, checks: null, reviews: null };
const recently = rememberFor<Reading>(keptMs);

/** Returns what a merge of a task will do, and any problems with it. Reads GitHub within a time limit. */
export async function readMergeReadiness(app: App, taskId: string) {
  const em = app.db.manager;
  const pulls = await listOpenPulls(em, taskId);
  const repositories = await listRepositoriesById(
    em,
    pulls.map((pull) => pull.repositoryId),
  );
  const [readings, liveRun, proof, runChecks, dependents] = await Promise.all([
    Promise.all(pulls.map((pull, i) => readingOf(app, pull, repositories, i))),
    findLiveRun(em, taskId),
    findProof(em, taskId),
    listRunChecks(em, taskId),
    listDependents(em, taskId),
  ]);
  const pullRequests = pulls.map((pull, i) => ({
    ...(readings[i] as Reading),
    repositoryName: repositories.find(({ id }) => id === pull.repositoryId)?.name ?? '',
    prUrl: pull.url,
    prNumber: pull.number,
    status: pull.status as 'draft' | 'open',
  }));
  const facts = pullRequests.map(
    (pull, i): PullReadiness => ({
      ...pull,
      name: `${pull.repositoryName} #${pull.prNumber}`,
      isDraft: pull.status === 'draft',
      isUnready: pulls[i]?.unreadySha === pulls[i]?.headSha,
    }),
  );
  const problems = mergeProblems({ hasLiveRun: liveRun !== null, pulls: facts, proof });
  return { pullRequests, runChecks, dependents, problems };
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
  if (error instanceof AppError || error instanceof RateLimited) return `${error.message}.`;
  const status = httpStatusOf(error);
  return status === 0 || status >= 500 ? 'it did not respond.' : `it answered with status ${status}.`;
}
