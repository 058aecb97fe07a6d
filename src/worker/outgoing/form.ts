import type { FinishArguments } from '../../conversation/tools/tool.ts';
import { problemsWithTitle } from '../../repositories/customs/commit-rules.ts';
import type { Work } from '../work.ts';

/** At most this many types are named. */
const maxTypes = 30;

/**
 * Returns what of the form of its pull requests the agent should correct, one sentence each. It is told once; what it
 * leaves, the service repairs.
 */
export async function formNotices(own: Work, changed: Work[], finish: FinishArguments): Promise<string[]> {
  const notices: string[] = [];
  for (const each of changed) {
    const where = each === own ? '' : `${each.repository.name}: `;
    notices.push(...(await titleNotices(each, finish)).map((notice) => where + notice));
  }
  return notices;
}

async function titleNotices({ customs }: Work, { title = '' }: FinishArguments): Promise<string[]> {
  const { rules, from } = customs;
  if (rules === undefined) return [];
  const problems = title === '' ? ['title may not be empty'] : await problemsWithTitle(title, rules);
  if (problems.length === 0) return [];
  const [, , types] = rules['type-enum'] ?? [];
  const named = Array.isArray(types) ? ` The types are ${types.slice(0, maxTypes).map(onOneLine).join(', ')}.` : '';
  return [
    `the title has to be one of Conventional Commits, by the rules in ${from}: ${problems.map(onOneLine).join('; ')}. Give finish a title such as "fix: accept empty names".${named}`,
  ];
}

/** The rules come from the repository, and a line break in them would look like another notice. */
function onOneLine(text: unknown): string {
  return String(text).replace(/\s+/g, ' ').slice(0, 300);
}
