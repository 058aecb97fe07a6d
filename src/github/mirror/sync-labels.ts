import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { failedLabel, labelOf, ownLabels } from './mirror.ts';
import { countWrite, type Mirrored, tripBreaker } from './mirror-store.ts';

/** More comments and label changes of ours on one issue in ten minutes mean that something goes round in circles. */
const mostWrites = 20;

interface At {
  owner: string;
  repo: string;
  issue_number: number;
}

/** Counts a comment or a change of a label by us; too many trip the breaker of that issue. */
export async function noteWrite(app: App, em: EntityManager, place: Mirrored): Promise<void> {
  if ((await countWrite(em, place)) <= mostWrites) return;
  app.metrics.breakers.inc();
  app.log.warn({ taskId: place.taskId, number: place.number }, 'too many changes on one issue; paused for ten minutes');
  place.trippedUntil = new Date(Date.now() + 600_000);
  await tripBreaker(em, place);
  // At once to say so, and when it is over to go on.
  const { taskId } = place;
  await app.queue.send(undefined, 'mirror', { taskId, recheck: true }, { key: `${taskId} tripped` });
  await app.queue.send(undefined, 'mirror', { taskId, recheck: true }, { key: `${taskId} over`, afterSeconds: 605 });
}

export function isTripped(place: Mirrored): boolean {
  return place.trippedUntil !== null && place.trippedUntil > new Date();
}

/** Puts the labels of the task on, and takes those of ours off that are not wanted; people's own are never touched. */
export async function syncLabels(
  app: App,
  em: EntityManager,
  octokit: Octokit,
  at: At,
  place: Mirrored,
  labels: string[],
): Promise<void> {
  const path = '/repos/{owner}/{repo}/issues/{issue_number}/labels' as const;
  const { data } = await octokit.request(`GET ${path}`, { ...at, per_page: 100 });
  const shown = data.map((label) => label.name);
  const missing = labels.filter((name) => !shown.includes(name));
  if (missing.length > 0 && !isTripped(place)) {
    await noteWrite(app, em, place);
    await octokit.request(`POST ${path}`, { ...at, labels: missing });
  }
  for (const name of shown.filter((n) => ownLabels.has(n) && !labels.includes(n))) {
    if (isTripped(place)) return;
    await noteWrite(app, em, place);
    await octokit.request(`DELETE ${path}/{name}`, { ...at, name }).catch((error) => {
      // Somebody took it off meanwhile, which is what we wanted.
      if (error.status !== 404) throw error;
    });
  }
}

/** Colour and meaning of each of our labels. */
const described: Record<string, [string, string]> = {
  [labelOf.backlog]: ['ededed', 'A task in the backlog'],
  [labelOf.ready]: ['c5def5', 'A task that can be started'],
  [labelOf.in_progress]: ['fbca04', 'An agent is at work'],
  [labelOf.in_review]: ['1d76db', 'A pull request waits for a person'],
  [labelOf.done]: ['0e8a16', 'Done'],
  [labelOf.waiting_on_subtasks]: ['d4c5f9', 'Waits for its subtasks'],
  [failedLabel]: ['d93f0b', 'The last run failed; the status comment says why'],
  'agent:run': ['5319e7', 'Put it on to let an agent begin'],
};

/** Makes those of our labels that a repository lacks. */
export async function makeLabels(octokit: Octokit, name: { owner: string; repo: string }): Promise<void> {
  const found = await octokit.paginate('GET /repos/{owner}/{repo}/labels', { ...name, per_page: 100 });
  const there = new Set(found.map((label) => label.name.toLowerCase()));
  for (const [label, [color, description]] of Object.entries(described)) {
    if (there.has(label)) continue;
    await octokit
      .request('POST /repos/{owner}/{repo}/labels', { ...name, name: label, color, description })
      .catch((error) => {
        // Made by somebody else meanwhile, or the repository takes no changes.
        if (!isRefusedWith(error, 403, 404, 422)) throw error;
      });
  }
}
