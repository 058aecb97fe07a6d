import type { ImportedIssues, OpenIssue, RepositoryValidation } from '../api.ts';
import { formatNumber, plural } from '../display/formats.ts';
import { asSentence } from '../live/errors.ts';

/** The service imports at most this many issues with one request. */
export const maxAtOnce = 50;

/** Returns the issues that match a search: a part of the title or of a label, or the number. */
export function filterIssues(issues: OpenIssue[], search: string): OpenIssue[] {
  const text = search.trim().toLowerCase();
  const number = /^#?(\d+)$/.exec(text)?.[1];
  return issues.filter(
    (issue) =>
      [issue.title, ...issue.labels].some((part) => part.toLowerCase().includes(text)) ||
      (number !== undefined && String(issue.number).startsWith(number)),
  );
}

/** Returns the chosen numbers with those of all issues that have no task yet, as many as one request may have. */
export function withAll(chosen: number[], issues: Pick<OpenIssue, 'number' | 'taskId'>[]): number[] {
  const others = issues.filter(({ number, taskId }) => taskId === null && !chosen.includes(number));
  return [...chosen, ...others.map(({ number }) => number)].slice(0, Math.max(chosen.length, maxAtOnce));
}

/** Says what an import has done, with the reasons why issues were skipped, and whether all of its tasks were started. */
export function importedText({ imported, skipped }: ImportedIssues, isStarted: boolean): string {
  const created = imported.length === 0 ? 'No task was created.' : `${plural(imported.length, 'task')} created.`;
  const reasons = skipped.map(({ reason }) => reason);
  const started = imported.length === 1 ? 'It is started.' : 'They are started.';
  return [created, ...reasons, ...(isStarted && imported.length > 0 ? [started] : [])].join(' ');
}

interface Named {
  fullName: string;
  isConnected: boolean;
}

/**
 * Returns the repositories whose names contain every word of a search, first those whose own name begins with
 * the first word. Without a search, returns those that can still be connected.
 */
export function matchesOf<Repository extends Named>(repositories: Repository[], search: string): Repository[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const [first] = words;
  if (first === undefined) return repositories.filter(({ isConnected }) => !isConnected);
  const nameOf = ({ fullName }: Named) => fullName.toLowerCase();
  const beginsWith = (repository: Named) => nameOf(repository).split('/').at(-1)?.startsWith(first) ?? false;
  const matches = repositories.filter((repository) => words.every((word) => nameOf(repository).includes(word)));
  return [...matches.filter(beginsWith), ...matches.filter((repository) => !beginsWith(repository))];
}

/** Says how many repositories the GitHub App can access, and whether one is left to connect. */
export function accessText(repositories: Named[]): string {
  const count = repositories.length;
  const access = `The GitHub App has access to ${count === 1 ? '1 repository' : `${formatNumber(count)} repositories`}`;
  if (repositories.some(({ isConnected }) => !isConnected)) return `${access}. Press Enter to take the first match.`;
  return count === 1 ? `${access}, which is connected.` : `${access}, and all of them are connected.`;
}

/** Says what a test of a repository found. */
export function foundText({ message, error }: Pick<RepositoryValidation, 'message' | 'error'>): string {
  const details = error === undefined || message.includes(error) ? [] : [error];
  return [message, ...details].map(asSentence).join(' ');
}
