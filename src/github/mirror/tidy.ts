import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import { isBranchOf } from '../../domain/text/branch-names.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import type { Jobs } from '../../queue/names.ts';
import { type Credential, credentialFor, octokitFor } from '../../repositories/credentials.ts';
import { findRepository } from '../../repositories/store.ts';
import { findTaskOfPull } from '../../runs/reviewing/store.ts';
import { type Leftover, queueTidying } from '../../tasks/update.ts';
import { authorFor } from '../../worker/publish/commit-message.ts';
import { httpStatusOf, readRepository } from '../app/place.ts';
import { findOwnComment } from '../comments.ts';
import { isOwnLabel } from '../labels.ts';
import { findItem } from '../paginate.ts';
import { findTaskOfIssue } from '../store.ts';
import { statusMarker } from './status-comment.ts';

type Key = Pick<Leftover, 'taskId' | 'repositoryId' | 'number'>;

/** So long we wait until GitHub lets us into a repository again. The service may have lost access for good. */
const keptDays = 30;

const columns = `task_id as "taskId", repository_id as "repositoryId", number, branch, comment_id::float8 as "commentId", milestone`;

async function findLeftover(em: EntityManager, { taskId, repositoryId, number }: Key) {
  const rows: (Leftover & { isOld: boolean })[] = await em.query(
    `select ${columns}, at < now() - interval '${keptDays} days' as "isOld" from leftovers
     where task_id = $1 and repository_id = $2 and number = $3`,
    [taskId, repositoryId, number],
  );
  return rows[0];
}

async function deleteLeftover(em: EntityManager, { taskId, repositoryId, number }: Key): Promise<void> {
  await em.query('delete from leftovers where task_id = $1 and repository_id = $2 and number = $3', [
    taskId,
    repositoryId,
    number,
  ]);
}

/** Returns leftovers whose jobs may have given up, oldest first. */
async function listOldLeftovers(em: EntityManager, limit: number): Promise<Leftover[]> {
  return em.query(
    `select ${columns} from leftovers where at < now() - interval '10 minutes' order by at, task_id, number limit $1`,
    [limit],
  );
}

/**
 * Handles the `tidy` job: removes from GitHub what a deleted task showed there. Each step looks before it writes, so the
 * job can be repeated after a crash. Issues stay open, because they belong to people. While GitHub does not let us into
 * the repository, it answers as if all were gone, so nothing is done.
 */
export async function tidy(app: App, job: Jobs['tidy']): Promise<void> {
  const em = app.db.manager;
  // A job that shows the task may still be running.
  await app.db.withLock(`mirror ${job.taskId}`, async () => {
    const left = await findLeftover(em, job);
    if (left === undefined) return;
    const repository = await findRepository(em, left.repositoryId);
    const credential = repository === null ? undefined : await credentialFor(app, repository);
    if (repository === null || credential === undefined || credential.kind === 'none' || credential.owner === '')
      return deleteLeftover(em, left);
    const octokit = await octokitFor(app, credential);
    const { owner, repo } = credential;
    if ((await readRepository({ octokit, name: { owner, repo }, repository })) === undefined)
      return left.isOld ? deleteLeftover(em, left) : undefined;
    const attempt = attemptsFor(app, left);
    await attempt(() => remove(app, { credential, octokit, base: repository.defaultBranch, attempt }, left));
    await deleteLeftover(em, left);
  });
}

/** Queues the jobs of old leftovers again, for example after GitHub was unavailable for long. */
export async function tidyAgain(app: App): Promise<void> {
  for (const left of await listOldLeftovers(app.db.manager, 200)) await queueTidying(app, undefined, left);
}

type Attempt = (step: () => Promise<unknown>) => Promise<void>;

/**
 * Returns a function that tries one step of the clean-up. It skips what is gone, locked, protected by a rule or out of
 * reach, so that the other steps are still tried.
 */
function attemptsFor(app: App, { taskId }: Leftover): Attempt {
  return async (step) => {
    try {
      await step();
    } catch (error) {
      if (!isRefusedWith(error, 403, 404, 409, 410, 422)) throw error;
      app.log.info({ err: error, taskId }, 'what a deleted task left on GitHub cannot be removed');
    }
  };
}

interface Host {
  credential: Exclude<Credential, { kind: 'none' }>;
  octokit: Octokit;
  /** The default branch of the repository. */
  base: string;
  attempt: Attempt;
}

async function remove(app: App, host: Host, left: Leftover): Promise<void> {
  const { attempt } = host;
  const { branch } = left;
  if (left.number > 0) {
    if (branch !== null) await attempt(() => closePull(host, left));
    // Somebody may have made a new task for the issue, which shows the same labels and the same comment.
    if (!(await isTakenAgain(app, left))) await removeMarks(app, host, left);
  }
  if (branch !== null) await attempt(() => deleteBranch(app, host, left.taskId, branch));
}

async function isTakenAgain(app: App, { repositoryId, number, branch }: Leftover): Promise<boolean> {
  const find = branch === null ? findTaskOfIssue : findTaskOfPull;
  return (await find(app.db.manager, repositoryId, number)) !== undefined;
}

const nameOf = ({ credential: { owner, repo } }: Host): RepoName => ({ owner, repo });

async function closePull(host: Host, { number, taskId }: Leftover): Promise<void> {
  const { octokit } = host;
  const place = { ...nameOf(host), pull_number: number };
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', place);
  if (data.state !== 'open') return;
  const marker = `<!-- deckhand:deleted ${taskId} -->`;
  const issue = { ...nameOf(host), issue_number: number };
  const path = '/repos/{owner}/{repo}/issues/{issue_number}/comments' as const;
  const pages = octokit.paginate.iterator(`GET ${path}`, { ...issue, per_page: 100 });
  await host.attempt(async () => {
    if ((await findItem(pages, (comment) => comment.body?.startsWith(marker))) === undefined)
      await octokit.request(`POST ${path}`, { ...issue, body: `${marker}\n${closingText}` });
  });
  await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...place, state: 'closed' });
}

const closingText =
  'The task of this pull request was deleted, so the pull request is closed. Its branch is deleted too, unless somebody else pushed to it.';

/** Removes our labels, status comment and milestone. A project that has just a git token has none of them. */
async function removeMarks(app: App, host: Host, left: Leftover): Promise<void> {
  if (host.credential.kind !== 'installation') return;
  const { octokit, attempt } = host;
  const issue = { ...nameOf(host), issue_number: left.number };
  const path = '/repos/{owner}/{repo}/issues/{issue_number}' as const;
  await attempt(async () => {
    const { data: labels } = await octokit.request(`GET ${path}/labels`, { ...issue, per_page: 100 });
    for (const { name } of labels.filter((label) => isOwnLabel(label.name)))
      await attempt(() => octokit.request(`DELETE ${path}/labels/{name}`, { ...issue, name }));
  });
  await attempt(async () => {
    const commentId = left.commentId ?? (await findOwnComment(app, octokit, issue, statusMarker))?.id;
    if (commentId === undefined) return;
    const comments = '/repos/{owner}/{repo}/issues/comments/{comment_id}' as const;
    await octokit.request(`DELETE ${comments}`, { ...nameOf(host), comment_id: Number(commentId) });
  });
  if (left.milestone === null) return;
  await attempt(async () => {
    const { data } = await octokit.request(`GET ${path}`, issue);
    if (data.milestone?.number === left.milestone)
      await octokit.request(`PATCH ${path}`, { ...issue, milestone: null });
  });
}

/** Deletes the branch of a task if all of its commits are our own. */
async function deleteBranch(app: App, host: Host, taskId: string, branch: string): Promise<void> {
  if (!isBranchOf(taskId, branch)) return;
  const ref = { ...nameOf(host), ref: `heads/${branch}` };
  const head = await headOf(host, ref);
  if (head === undefined || !(await isOurs(app, host, head))) return;
  // Somebody may have pushed while the commits were read. GitHub cannot delete a branch on the condition that it is at a
  // commit.
  if ((await headOf(host, ref)) !== head) return;
  await host.octokit.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', ref);
}

/** Returns the commit of a branch, or undefined if the branch is gone. */
async function headOf({ octokit }: Host, ref: RepoName & { ref: string }): Promise<string | undefined> {
  return octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', ref).then(
    ({ data }) => data.object.sha,
    (error) => {
      if (httpStatusOf(error) !== 404) throw error;
      return undefined;
    },
  );
}

/** GitHub lists at most this many commits of a comparison on a page. */
const commitsOfPage = 100;
/** A branch with more pages of commits is kept. */
const maxPages = 100;

/** Returns whether we made every commit up to `head` that is not on the default branch. */
async function isOurs(app: App, host: Host, head: string): Promise<boolean> {
  const { email } = await authorFor(app, host.credential);
  const place = { ...nameOf(host), basehead: `${host.base}...${head}`, per_page: commitsOfPage };
  for (let page = 1, listed = 0; page <= maxPages; page++) {
    const { data } = await host.octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...place, page });
    listed += data.commits.length;
    if (data.commits.some(({ commit }) => commit.author?.email !== email)) return false;
    if (listed >= data.total_commits) return true;
    if (data.commits.length === 0) return false;
  }
  return false;
}
