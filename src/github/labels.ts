import type { Octokit } from '../app.ts';
import type { TaskStatus } from '../domain/task.ts';
import type { RepoName } from '../git/remote-url.ts';
import { isRefusedWith } from '../outgoing/github-errors.ts';
import { listPages } from './paginate.ts';

export const labelOf: Record<TaskStatus, string> = {
  backlog: 'agent:backlog',
  ready: 'agent:ready',
  in_progress: 'agent:in-progress',
  in_review: 'agent:in-review',
  done: 'agent:done',
  waiting_on_subtasks: 'agent:waiting',
};

export const failedLabel = 'agent:failed';

/** Shown while a run waits for a person. */
export const waitsLabel = 'agent:needs-you';

/** The label that starts a task. */
export const runLabel = 'agent:run';

/** The labels that only we add and remove. We leave all other labels alone. */
export const ownLabels = new Set([...Object.values(labelOf), failedLabel, waitsLabel]);

/** Returns a label's name as ours are written. GitHub keeps the letter case of whoever created a label, and ignores it. */
export function labelKey(name: string): string {
  return name.toLowerCase();
}

export function isOwnLabel(name: string): boolean {
  return ownLabels.has(labelKey(name));
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
  [runLabel]: ['5319e7', 'Add this label to start an agent'],
};

/**
 * Creates those of our labels that a repository lacks. In a repository with more than 1,000 labels, one of ours may be
 * there unread; GitHub then refuses to create it.
 */
export async function makeLabels(octokit: Octokit, name: RepoName): Promise<void> {
  const read = (page: object) => octokit.request('GET /repos/{owner}/{repo}/labels', { ...name, ...page });
  const { items } = await listPages(async (page) => (await read(page)).data);
  const there = new Set(items.map((label) => labelKey(label.name)));
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
