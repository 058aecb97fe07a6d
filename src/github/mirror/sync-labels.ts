import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { MirroredRow } from '../../db/tables/github.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import type { IssueRef } from '../app/place.ts';
import { isOwnLabel, labelKey } from '../labels.ts';
import { setNotice } from '../store.ts';
import { countWrite, tripBreaker } from './mirror-store.ts';

/**
 * Limit for our changes to comments and labels of one issue in ten minutes. Beyond it, a person or another bot is
 * probably reverting each of our changes.
 */
const mostWrites = 20;

const pauseSeconds = 600;

/**
 * Counts a change that we made to a comment or label. Too many trip the circuit breaker of that issue, which pauses our
 * changes for ten minutes. Returns the updated row.
 */
export async function noteWrite(app: App, em: EntityManager, mirrored: MirroredRow): Promise<MirroredRow> {
  if ((await countWrite(em, mirrored)) <= mostWrites) return mirrored;
  const { taskId, number } = mirrored;
  app.metrics.breakers.inc();
  app.log.warn({ taskId, number }, 'too many changes on one issue; paused for ten minutes');
  const trippedUntil = new Date(Date.now() + pauseSeconds * 1000);
  await tripBreaker(em, mirrored, trippedUntil);
  // The first job explains the pause in the comment now. The second continues the changes when the pause is over.
  await app.queue.send(undefined, 'mirror', { taskId, recheck: true }, { key: `${taskId} tripped` });
  await app.queue.send(
    undefined,
    'mirror',
    { taskId, recheck: true },
    { key: `${taskId} over`, afterSeconds: pauseSeconds + 5 },
  );
  return { ...mirrored, trippedUntil };
}

export function isTripped({ trippedUntil }: MirroredRow): boolean {
  return trippedUntil !== null && trippedUntil > new Date();
}

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
