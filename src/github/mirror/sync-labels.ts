import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { MirroredRow } from '../../db/tables/github.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import type { IssueRef } from '../place.ts';
import { failedLabel, labelOf, ownLabels, waitsLabel } from './mirror.ts';
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
  const missing = labels.filter((name) => !shown.includes(name));
  if (missing.length > 0 && !isTripped(mirrored)) {
    mirrored = await noteWrite(app, em, mirrored);
    await octokit.request(`POST ${path}`, { ...issue, labels: missing });
  }
  for (const name of shown.filter((n) => ownLabels.has(n) && !labels.includes(n))) {
    if (isTripped(mirrored)) return mirrored;
    mirrored = await noteWrite(app, em, mirrored);
    await octokit.request(`DELETE ${path}/{name}`, { ...issue, name }).catch((error) => {
      // Somebody has already removed it.
      if (error.status !== 404) throw error;
    });
  }
  return mirrored;
}

/** The colour and description of each of our labels. */
const described: Record<string, [string, string]> = {
  [labelOf.backlog]: ['ededed', 'A task in the backlog'],
  [labelOf.ready]: ['c5def5', 'A task that can be started'],
  [labelOf.in_progress]: ['fbca04', 'An agent is working on it'],
  [labelOf.in_review]: ['1d76db', 'A pull request waits for review'],
  [labelOf.done]: ['0e8a16', 'Done'],
  [labelOf.waiting_on_subtasks]: ['d4c5f9', 'Waits for its subtasks'],
  [failedLabel]: ['d93f0b', 'The last run failed; the status comment says why'],
  [waitsLabel]: ['e99695', 'The agent waits for you; the status comment says what for'],
  'agent:run': ['5319e7', 'Add this label to start an agent'],
};

/** Creates those of our labels that a repository lacks. */
export async function makeLabels(octokit: Octokit, name: RepoName): Promise<void> {
  const found = await octokit.paginate('GET /repos/{owner}/{repo}/labels', { ...name, per_page: 100 });
  const there = new Set(found.map((label) => label.name.toLowerCase()));
  for (const [label, [color, description]] of Object.entries(described)) {
    if (there.has(label)) continue;
    await octokit
      .request('POST /repos/{owner}/{repo}/labels', { ...name, name: label, color, description })
      .catch((error) => {
        // Somebody else has just created it, or the repository is read-only.
        if (!isRefusedWith(error, 403, 404, 422)) throw error;
      });
  }
}
