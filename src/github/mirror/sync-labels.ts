import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { MirroredRow } from '../../db/tables/github.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import type { IssueRef } from '../app/place.ts';
import { isTripped, noteWrite } from '../issues/limit-writes.ts';
import { isOwnLabel, labelKey } from '../labels.ts';
import { setNotice } from '../store.ts';

/**
 * Adds the wanted labels to an issue and removes our other labels. Labels from people stay. Returns the updated row,
 * because these changes may have tripped the circuit breaker.
 */
export async function syncLabels(
  app: App,
  em: EntityManager,
  octokit: Octokit,
  issue: IssueRef,
  before: MirroredRow,
  labels: string[],
): Promise<MirroredRow> {
  let mirrored = before;
  const path = '/repos/{owner}/{repo}/issues/{issue_number}/labels' as const;
  const { data } = await octokit.request(`GET ${path}`, { ...issue, per_page: 100 });
  const shown = data.map((label) => label.name);
  const missing = labels.filter((name) => !shown.some((each) => labelKey(each) === name));
  if (missing.length > 0 && !isTripped(mirrored)) {
    mirrored = await noteWrite(app, em, mirrored);
    const isFull = !(await addLabels(octokit, issue, missing));
    await noteFull(app, em, mirrored, isFull);
  }
  for (const name of shown.filter((n) => isOwnLabel(n) && !labels.includes(labelKey(n)))) {
    if (isTripped(mirrored)) return mirrored;
    mirrored = await noteWrite(app, em, mirrored);
    await octokit.request(`DELETE ${path}/{name}`, { ...issue, name }).catch((error) => {
      // Somebody has already removed it.
      if (error.status !== 404) throw error;
    });
  }
  return mirrored;
}

const fullText =
  'GitHub refuses further labels here: an issue has 100 at most. Remove some, so that the status can be shown as a label.';

/** Adds labels to an issue. Returns false if GitHub refuses them, because it has too many. */
async function addLabels(octokit: Octokit, issue: IssueRef, labels: string[]): Promise<boolean> {
  try {
    await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', { ...issue, labels });
    return true;
  } catch (error) {
    if (!isRefusedWith(error, 422)) throw error;
    return false;
  }
}

/** Says in the comment whether the issue has too many labels, unless the comment has something else to say. */
async function noteFull(app: App, em: EntityManager, mirrored: MirroredRow, isFull: boolean): Promise<void> {
  const { taskId, repositoryId, number, notice } = mirrored;
  if (notice !== (isFull ? '' : fullText)) return;
  await setNotice(em, taskId, repositoryId, number, isFull ? fullText : '');
  await app.queue.send(undefined, 'mirror', { taskId, recheck: false }, { key: `${taskId} labels` });
}
