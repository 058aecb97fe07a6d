import type { FinishArguments } from '../../conversation/tools/tool.ts';
import { problemsWithTitle } from '../../repositories/customs/commit-rules.ts';
import type { CommitRules } from '../../repositories/customs/conventional.ts';
import { missingFrom, templateOf } from '../../repositories/customs/fill-template.ts';
import type { Work } from '../work.ts';

/** At most this many types and scopes are named. */
const maxNames = 30;

/**
 * Returns what the agent should correct in the titles and bodies of its pull requests, one sentence each. It gets one
 * chance. The service repairs the rest.
 */
export async function formNotices(own: Work, changed: Work[], finish: FinishArguments): Promise<string[]> {
  const notices: string[] = [];
  for (const each of changed) {
    const where = each === own ? '' : `${each.repository.name}: `;
    const found = [...(await titleNotices(each, finish)), ...templateNotices(each, finish)];
    notices.push(...found.map((notice) => where + notice));
  }
  return notices;
}

async function titleNotices({ customs }: Work, { title = '' }: FinishArguments): Promise<string[]> {
  const { rules, from } = customs;
  if (rules === undefined) return [];
  const problems = title === '' ? ['title may not be empty'] : await problemsWithTitle(title, rules);
  if (problems.length === 0) return [];
  const named = namesOf('types', rules['type-enum']) + namesOf('scopes', rules['scope-enum']);
  return [
    `the title has to be one of Conventional Commits, by the rules in ${from}: ${problems.map(onOneLine).join('; ')}. Give finish a title such as "fix: accept empty names".${named}`,
  ];
}

/** Names what a rule allows. Without the scopes, an agent whose title lacks a required one would have to guess. */
function namesOf(what: string, [level, applicable, allowed]: CommitRules[string] = [0]): string {
  if (level === 0 || applicable === 'never' || !Array.isArray(allowed) || allowed.length === 0) return '';
  return ` The ${what} are ${allowed.slice(0, maxNames).map(onOneLine).join(', ')}.`;
}

/** At most this many headings and boxes are named. */
const maxMissing = 20;

/** A branch that exists has its pull request, whose body stays as it is. */
function templateNotices({ customs, branch }: Work, { body = '' }: FinishArguments): string[] {
  const template = branch.continues ? undefined : templateOf(customs.templates, body);
  if (template === undefined) return [];
  const where = `the template ${onOneLine(template.path)}`;
  if (body.trim() === '') return [`finish has no \`body\`: fill in ${where}`];
  const { headings, boxes } = missingFrom(template, body);
  const missing = [...headings, ...boxes];
  if (missing.length === 0) return [];
  const named = missing.slice(0, maxMissing).map((text) => `"${onOneLine(text.trim()).slice(0, 100)}"`);
  const more = missing.length > maxMissing ? ` and ${missing.length - maxMissing} more` : '';
  return [`the \`body\` of finish leaves out parts of ${where}: ${named.join(', ')}${more}`];
}

/** The rules come from the repository, and a line break in them would look like another notice. */
function onOneLine(text: unknown): string {
  return String(text).replace(/\s+/g, ' ').slice(0, 300);
}
