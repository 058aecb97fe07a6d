import { slug } from './sanitize.ts';

/** The pattern of branches in repositories that ask for no other. */
export const defaultBranchPattern = 'agent/{id}-{slug}';

/** What a branch is named after: a task or a plan. */
export interface Named {
  id: string;
  title: string;
  /** The issue of the task in the same repository; null without one. */
  issueNumber: number | null;
}

/** The part of an id that branches have. The beginning of ids is a time, so it would be the same for many. */
const idPart = (id: string) => id.slice(-8);

/**
 * Returns the name of a branch: `{id}` stands for the last 8 characters of the id, `{slug}` for the title in lower-case
 * letters and dashes, and `{issue}` for the number of the issue. Without an issue, `{issue}` goes with one separator
 * beside it. If earlier branches were merged, deleted or taken, `attempt` adds `-2`, `-3` and so on.
 */
export function branchName({ id, title, issueNumber }: Named, pattern = defaultBranchPattern, attempt = 1): string {
  const numbered =
    issueNumber === null
      ? pattern.replaceAll(/\{issue\}[-_.]|[-_.]\{issue\}|\{issue\}/g, '')
      : pattern.replaceAll('{issue}', String(issueNumber));
  const name = numbered
    .replaceAll('{id}', idPart(id))
    .replaceAll('{slug}', slug(title) || 'task')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/^\//, '');
  return attempt > 1 ? `${name}-${attempt}` : name;
}

/** Returns whether a branch may belong to a task or plan. A run may push to no other. */
export function isBranchOf(id: string, branch: string): boolean {
  return branch.includes(idPart(id)) && problemWithName(branch) === undefined;
}

/** Returns what is wrong with a pattern of branch names, or undefined. */
export function problemWithBranchPattern(pattern: string): string | undefined {
  const [unknown] = pattern.replaceAll(/\{(?:id|slug|issue)\}/g, '').match(/\{[^}]*\}?|\}/) ?? [];
  if (unknown !== undefined) return `must contain no ${unknown}; there are {id}, {slug} and {issue}`;
  if (!pattern.includes('{id}')) return 'must contain {id}, so that every task has its own branch';
  const named = { id: '0123456789', title: 'a title' };
  return (
    problemWithName(branchName({ ...named, issueNumber: 7 }, pattern)) ??
    problemWithName(branchName({ ...named, issueNumber: null }, pattern))
  );
}

/** Says what git, or a tool that reads names, would not accept in the name of a branch. */
function problemWithName(name: string): string | undefined {
  const isPlain =
    /^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(name) &&
    !/\.\.|\/\/|\/[.-]|\.lock(?:\/|$)|[./]$|^refs\//.test(name) &&
    name.length <= 200;
  return isPlain
    ? undefined
    : 'must give a name of letters, digits and . _ - / that git accepts, such as agent/{id}-{slug}';
}
