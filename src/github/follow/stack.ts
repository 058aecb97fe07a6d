import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { PullRequestRow, PullStatus } from '../../db/tables/task.ts';
import { Refused } from '../../domain/machine.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { unlessMissing } from '../../repositories/permission.ts';
import { findRepository } from '../../repositories/store.ts';
import { queueMirror } from '../../tasks/move.ts';
import { getTask, hasLiveRun } from '../../tasks/store.ts';
import { setNotice } from '../store.ts';

/** The work below a stacked pull request: that of the task whose branch is its base. */
interface Below {
  taskId: string;
  /** Its pull request; null while it has none. */
  url: string | null;
  status: PullStatus | null;
  baseBranch: string | null;
  /** The branch into which it was merged, if that is not the one that was agreed. */
  elsewhere: string | null;
  defaultBranch: string;
}

/** Finds the work whose branch is the base of a pull request. Returns undefined for a pull request that is not stacked. */
async function findBelow(
  em: EntityManager,
  { repositoryId, baseBranch, taskId }: Pick<PullRequestRow, 'repositoryId' | 'baseBranch' | 'taskId'>,
): Promise<Below | undefined> {
  if (baseBranch === null) return undefined;
  const rows: Below[] = await em.query(
    `select t.id as "taskId", p.url, p.status, p.base_branch as "baseBranch", p.merged_elsewhere as elsewhere,
       r.default_branch as "defaultBranch"
     from repositories r
     join tasks t on t.project_id = r.project_id
     left join lateral (
       select url, status, base_branch, merged_elsewhere from pull_requests
       where task_id = t.id and repository_id = r.id and head_branch = $2
       order by created_at desc, number desc limit 1) p on true
     where r.id = $1 and t.id <> $3 and (p.url is not null or (t.repository_id = r.id and t.branch_name = $2))
     order by p.url is null, t.created_at desc limit 1`,
    [repositoryId, baseBranch, taskId],
  );
  return rows[0];
}

/**
 * Checks that a pull request is not stacked on one that is not merged.
 * @throws Refused
 */
export async function assertNothingBelow(em: EntityManager, pull: PullRequestRow): Promise<void> {
  const below = await findBelow(em, pull);
  if (below === undefined) return;
  if (below.elsewhere !== null)
    throw new Refused(
      `${below.url}, on which ${pull.url} is stacked, was merged into the branch ${oneLine(below.elsewhere, 100)}, not into ${targetOf(below)}, for which it was opened. Change the base of ${pull.url} to ${oneLine(below.elsewhere, 100)} on GitHub, or merge it on GitHub.`,
    );
  if (below.status === 'merged')
    throw new Refused(
      `${below.url} was merged a moment ago, so ${pull.url} is moving to the branch ${targetOf(below)}. Look at it there, then merge again. If it stays where it is, change its base on GitHub.`,
    );
  throw new Refused(
    `${pull.url} is stacked on ${below.url ?? `the branch ${pull.baseBranch}`}, which is not merged. Merge that one first.`,
  );
}

const targetOf = ({ baseBranch, defaultBranch }: Below) => baseBranch ?? defaultBranch;

/**
 * Finds out whether a pull request was merged into the branch that was agreed: its base, or where the one below it went.
 * Everybody with write permission can change the base on GitHub and merge there, so the agreed branch may not have its commits.
 * Nor does it have them if it went into the branch of one that had been merged before. If the agreed branch is gone or renamed,
 * the one on GitHub counts, as it does for an open pull request. `into` is what GitHub shows.
 */
export async function landingOf(
  octokit: Octokit,
  name: RepoName,
  { em, pull, into }: { em: EntityManager; pull: PullRequestRow; into: string | undefined },
): Promise<Kept> {
  const { baseBranch, mergedElsewhere, repositoryId, status } = pull;
  // Hosts that only look like GitHub may leave out the base.
  if (status === 'merged' || into === undefined) return { base: baseBranch, elsewhere: mergedElsewhere };
  const target = await findBelow(em, { ...pull, baseBranch: into });
  if (target?.status === 'merged') return { base: baseBranch, elsewhere: into };
  const below = await findBelow(em, pull);
  const goesOn = below?.status === 'merged' && below.elsewhere === null;
  const own = baseBranch ?? (await findRepository(em, repositoryId))?.defaultBranch ?? into;
  const kept = await keptBase(octokit, name, { baseBranch: goesOn ? targetOf(below) : own }, into);
  return kept === into ? { base: into, elsewhere: null } : { base: baseBranch, elsewhere: into };
}

/**
 * Queues the jobs that look again at the pull requests, and changes the tasks, that are stacked on a merged one. If it was
 * merged elsewhere, the tasks keep their base, because only a person knows where they should go now.
 */
export async function moveStacked(app: App, em: EntityManager, merged: PullRequestRow): Promise<void> {
  const { repositoryId, headBranch, baseBranch } = merged;
  if (merged.mergedElsewhere !== null) await tellElsewhere(app, em, merged, merged.mergedElsewhere);
  else
    await em.query(
      `update tasks set base = $3, updated_at = now()
       where repository_id = $1 and base = $2 and id <> $4 and status <> 'done'`,
      [repositoryId, headBranch, baseBranch, merged.taskId],
    );
  for (const pull of await listOpenPullsInto(em, repositoryId, headBranch))
    await app.queue.send(em, 'pull', { repositoryId, number: pull.number }, { key: pull.url });
}

/** Says in the tasks on the branch of a pull request, and in its own, that it was merged elsewhere. */
async function tellElsewhere(app: App, em: EntityManager, merged: PullRequestRow, elsewhere: string): Promise<void> {
  const { taskId, repositoryId, headBranch, number, url } = merged;
  const defaultBranch = (await findRepository(em, repositoryId))?.defaultBranch;
  const [into, agreed] = [elsewhere, merged.baseBranch ?? defaultBranch ?? ''].map((branch) => quoted(branch));
  const was = `was merged into ${into} on GitHub, not into ${agreed}, for which it was opened.`;
  await note(em, { taskId, repositoryId, number }, `${url} ${was}`);
  const above: { taskId: string; number: number | null }[] = await em.query(
    `select t.id as "taskId", p.number /* maybe null */ from tasks t
     left join pull_requests p on p.task_id = t.id and p.repository_id = $1 and p.base_branch = $2
       and p.status in ('open', 'draft')
     where t.id <> $3 and (p.number is not null or t.repository_id = $1 and t.base = $2 and t.status <> 'done')`,
    [repositoryId, headBranch, taskId],
  );
  for (const each of above) {
    const what =
      each.number === null
        ? `choose another one with \`${app.config.COMMAND_PREFIX} base <branch>\``
        : `change the base of pull request #${each.number} to ${into} on GitHub, or merge it there`;
    const text = `${url}, on whose branch this task is based, ${was} The base of this task stays as it is: ${what}.`;
    await note(em, { ...each, repositoryId }, text);
    await queueMirror(app, em, each.taskId);
  }
}

/** Finds the open pull requests that go into a branch. */
export async function listOpenPullsInto(
  em: EntityManager,
  repositoryId: string,
  branch: string,
): Promise<{ number: number; url: string }[]> {
  return em.query(
    `select p.number, p.url from pull_requests p join repositories r on r.id = p.repository_id
     where p.repository_id = $1 and p.status in ('open', 'draft') and coalesce(p.base_branch, r.default_branch) = $2
     order by p.number`,
    [repositoryId, branch],
  );
}

/** Where a pull request goes, or went, and what was done for that. */
export interface Kept {
  base: string | null;
  /** The branch into which it was merged, if that is not the one that was agreed. */
  elsewhere?: string | null;
  merge?: Merge | undefined;
}

/** A merge of the base into the branch of a pull request. */
export interface Merge {
  /** The head before. */
  from: string | undefined;
  /** The commit that merges them. */
  to: string;
}

/** A pull request as GitHub shows it. */
interface SeenPull {
  base: { ref: string };
  head: { ref: string };
}

/**
 * Keeps an open pull request on its base. If that is the branch of a merged one, the pull request goes where the merged one
 * went. Its branch gets what is new on its base, so that it shows only its own changes, even after a squash. Returns its
 * base; that on GitHub, if GitHub refuses another one. Each step looks before it writes, so it can be repeated after a
 * crash. While an agent works on the task, its branch stays as it is: the push of the run brings us here again.
 */
export async function keepStacked(
  app: App,
  octokit: Octokit,
  name: RepoName,
  pull: PullRequestRow,
  seen: SeenPull,
): Promise<Kept> {
  const em = app.db.manager;
  const below = await findBelow(em, pull);
  if (below === undefined) return { base: await keptBase(octokit, name, pull, seen.base.ref) };
  if (below.elsewhere !== null) return keptAbove(em, pull, below, seen.base.ref);
  const isMerged = below.status === 'merged';
  const target = isMerged ? targetOf(below) : (pull.baseBranch as string);
  if (isMerged && seen.base.ref !== target && !(await isMovedTo(app, octokit, name, pull, target)))
    return { base: seen.base.ref };
  const isBusy = await hasLiveRun(em, pull.taskId);
  const merge = isBusy ? undefined : await catchUp(octokit, name, { branch: seen.head.ref, base: target });
  if (isMerged) await noteMove(em, pull, below, target);
  return { base: target, merge };
}

/**
 * Returns the base of a pull request above one that was merged elsewhere. It stays on the branch of that one: in the agreed
 * branch it would bring along commits that nobody has agreed to merge there. If its base on GitHub is where those commits
 * are, because somebody has changed it or GitHub has deleted the branch, it goes there, unless it would be moved on from there.
 */
async function keptAbove(em: EntityManager, pull: PullRequestRow, below: Below, now: string): Promise<Kept> {
  const isThere = now === below.elsewhere && (await findBelow(em, { ...pull, baseBranch: now })) === undefined;
  if (!isThere) return { base: pull.baseBranch };
  await noteMove(em, pull, below, now);
  return { base: now };
}

/** Changes the base of a pull request. Returns false if GitHub refuses it: the branch is gone, or it has a pull request there. */
async function isMovedTo(app: App, octokit: Octokit, name: RepoName, { number, url }: PullRequestRow, base: string) {
  const path = 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}';
  try {
    await octokit.request(path, { ...name, pull_number: number, base });
    return true;
  } catch (error) {
    if (!isRefusedWith(error, 403, 404, 422)) throw error;
    app.log.info({ err: error, pull: url, base }, 'GitHub does not move a stacked pull request to its new base');
    return false;
  }
}

/**
 * Returns the base of a pull request that is not stacked. Somebody may change it on GitHub, which we do not follow, because
 * nobody has looked at the merge into another branch. If our branch is gone or renamed, there is no other.
 */
async function keptBase(
  octokit: Octokit,
  name: RepoName,
  { baseBranch }: Pick<PullRequestRow, 'baseBranch'>,
  now: string,
): Promise<string | null> {
  if (baseBranch === null || baseBranch === now) return baseBranch;
  const path = 'GET /repos/{owner}/{repo}/branches/{branch}';
  // GitHub redirects the name of a renamed branch.
  const found = await unlessMissing(octokit.request(path, { ...name, branch: baseBranch }));
  return found?.name === baseBranch ? baseBranch : now;
}

/** Merges what is new on the base into a branch. A conflict is left to `lookForConflict`. */
async function catchUp(
  octokit: Octokit,
  name: RepoName,
  { branch, base }: { branch: string; base: string },
): Promise<Merge | undefined> {
  const place = { ...name, basehead: `${base}...${branch}`, per_page: 1 };
  const compared = await unlessMissing(octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', place));
  if (!compared?.behind_by) return undefined;
  const commit_message = `Merge ${oneLine(base, 100)} into ${oneLine(branch, 100)}`;
  try {
    const asked = { ...name, base: branch, head: base, commit_message };
    const { status, data } = await octokit.request('POST /repos/{owner}/{repo}/merges', asked);
    // 204 says that there was nothing to merge.
    return status === 201 ? { from: data.parents[0]?.sha, to: data.sha } : undefined;
  } catch (error) {
    // 409 is a conflict; 404 a branch that is gone by now; 403 a protected branch; 422 a rule.
    if (!isRefusedWith(error, 403, 404, 409, 422)) throw error;
    return undefined;
  }
}

/** Says in the status comments of a task where its pull request goes now. */
async function noteMove(em: EntityManager, pull: PullRequestRow, below: Below, target: string): Promise<void> {
  const text = `${below.url}, on which pull request #${pull.number} was stacked, is merged. It goes into ${quoted(target)} now.`;
  await note(em, pull, text);
}

/** Whoever may create a branch chooses its name. */
const quoted = (branch: string) => `\`${oneLine(branch, 100).replaceAll('`', "'")}\``;

/** Says something in the status comments of a task, on its issue and on its pull request. */
async function note(
  em: EntityManager,
  { taskId, repositoryId, number }: { taskId: string; repositoryId: string; number: number | null },
  text: string,
): Promise<void> {
  if (number !== null) await setNotice(em, taskId, repositoryId, number, text);
  const { issueRepositoryId, issueNumber } = await getTask(em, taskId);
  if (issueRepositoryId !== null && issueNumber !== null)
    await setNotice(em, taskId, issueRepositoryId, issueNumber, text);
}
