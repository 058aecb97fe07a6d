import type { App, Octokit } from '../app.ts';
import type { PullRequestRow } from '../db/work-tables.ts';
import { Refused } from '../domain/machine.ts';
import { credentialFor, noCredential, octokitFor } from '../repositories/credentials.ts';
import { findRepository } from '../repositories/store.ts';
import { findLiveRun } from '../runs/store.ts';
import { getTask, type TaskView } from '../tasks/store.ts';
import { hasMergedPull, listOpenPulls } from '../tasks/work-store.ts';
import { refreshPull } from './follow/refresh-pull.ts';

const methods = ['squash', 'merge', 'rebase'] as const;

/**
 * Merges every open pull request of a task, in the order in which the repositories were connected, each only at the
 * head last seen. `isAgain` after an attempt that was cut off: then it is done when nothing is left to merge.
 * @throws Refused with GitHub's reason and what is merged already; AppError 503 without a credential
 */
export async function mergeTask(app: App, taskId: string, isAgain = false): Promise<TaskView> {
  const task = await getTask(app.db.manager, taskId);
  const pulls = await listOpenPulls(app.db.manager, taskId);
  if (isAgain && pulls.length === 0 && (await hasMergedPull(app.db.manager, taskId))) return task;
  if (task.status === 'done' || task.status === 'waiting_on_subtasks')
    throw new Refused(`merge requires a task with an open pull request, found status ${task.status}`);
  if ((await findLiveRun(app.db.manager, taskId)) !== null)
    throw new Refused('merge requires no queued or running run, found one; wait or cancel it first');
  if (pulls.length === 0) throw new Refused('merge requires an open pull request, found none');
  const draft = pulls.find((p) => p.status === 'draft');
  if (draft !== undefined)
    throw new Refused(`merge requires no draft, found ${draft.url}; mark it ready for review first`);
  const merged: string[] = [];
  for (const pull of pulls) {
    await mergePull(app, pull, merged);
    merged.push(pull.url);
  }
  return getTask(app.db.manager, taskId);
}

async function mergePull(app: App, pull: PullRequestRow, merged: string[]): Promise<void> {
  const repository = await findRepository(app.db.manager, pull.repositoryId);
  const credential = repository === null ? { kind: 'none' as const } : await credentialFor(app, repository);
  if (credential.kind === 'none') throw noCredential();
  const octokit = await octokitFor(app, credential);
  const name = { owner: credential.owner, repo: credential.repo };
  try {
    await mergeByAllowed(octokit, name, pull);
  } catch (error) {
    const { status, message } = error as { status?: number; message?: string };
    // Merged or closed by somebody meanwhile, or an answer that got lost: what GitHub says now decides.
    if ((await refreshPull(app, octokit, name, pull)).status === 'merged') return;
    if (![403, 404, 405, 409, 422].includes(status ?? 0)) throw error;
    const already = merged.length > 0 ? `; merged already: ${merged.join(', ')}` : '';
    throw new Refused(`merge of ${pull.url} was refused by GitHub: ${message}${already}`);
  }
  await refreshPull(app, octokit, name, pull);
}

async function mergeByAllowed(
  octokit: Octokit,
  name: { owner: string; repo: string },
  pull: PullRequestRow,
): Promise<void> {
  const { data } = await octokit.request('GET /repos/{owner}/{repo}', name);
  const allowed = { squash: data.allow_squash_merge, merge: data.allow_merge_commit, rebase: data.allow_rebase_merge };
  // Without admin rights GitHub does not say what is allowed; then each is tried.
  const candidates = methods.filter((method) => allowed[method] !== false);
  for (const [i, merge_method] of candidates.entries())
    try {
      await octokit.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', {
        ...name,
        pull_number: pull.number,
        sha: pull.headSha,
        merge_method,
      });
      return;
    } catch (error) {
      const isMethodRefused =
        (error as { status?: number }).status === 405 && /not allowed/i.test((error as Error).message);
      if (!isMethodRefused || i === candidates.length - 1) throw error;
    }
  throw new Refused('merge requires a merge method that the repository allows, found none');
}
