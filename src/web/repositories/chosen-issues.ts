import type { ImportedIssues, OpenIssue } from '../api.ts';
import { plural } from '../display/formats.ts';

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

/** Says what an import has done, with the reasons why issues were skipped. */
export function importedText({ imported, skipped }: ImportedIssues): string {
  const created = imported.length === 0 ? 'No task was created.' : `${plural(imported.length, 'task')} created.`;
  return [created, ...skipped.map(({ reason }) => reason)].join(' ');
}
