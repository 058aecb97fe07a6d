import { slug } from './text/slug.ts';

/**
 * The branch of a task: `agent/<last 8 characters of the id>-<slug of the title>`. `attempt` adds `-2`, `-3` and so on
 * after the earlier branches were merged or deleted.
 */
export function branchName(taskId: string, title: string, attempt = 1): string {
  const name = `agent/${taskId.slice(-8)}-${slug(title) || 'task'}`;
  return attempt > 1 ? `${name}-${attempt}` : name;
}

/** Whether a run may push to this branch. It may push to no other ref. */
export function isAgentBranch(ref: string): boolean {
  return /^agent\/[a-z0-9-]+$/.test(ref);
}
