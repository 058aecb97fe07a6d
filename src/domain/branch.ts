import { slug } from './text/slug.ts';

/**
 * Returns the branch name of a task: `agent/<last 8 characters of the id>-<slug of the title>`. If earlier branches
 * were merged or deleted, `attempt` adds `-2`, `-3` and so on.
 */
export function branchName(taskId: string, title: string, attempt = 1): string {
  const name = `agent/${taskId.slice(-8)}-${slug(title) || 'task'}`;
  return attempt > 1 ? `${name}-${attempt}` : name;
}

/** Returns whether a run may push to this branch. It may push to no other ref. */
export function isAgentBranch(ref: string): boolean {
  return /^agent\/[a-z0-9-]+$/.test(ref);
}
