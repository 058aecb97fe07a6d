import { slug } from './text/slug.ts';

/**
 * The branch of a task: `agent/<last 8 characters of the id>-<slug of the title>`, with `-2`, `-3` … once earlier ones
 * were merged or deleted (decisions, section 5).
 */
export function branchName(taskId: string, title: string, attempt = 1): string {
  const name = `agent/${taskId.slice(-8)}-${slug(title) || 'task'}`;
  return attempt > 1 ? `${name}-${attempt}` : name;
}

/** The only place in a repository that a run may push to. */
export function isAgentBranch(ref: string): boolean {
  return /^agent\/[a-z0-9-]+$/.test(ref);
}
