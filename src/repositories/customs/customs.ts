import type { Checkout } from '../../git/engine.ts';
import type { RepositorySettings } from '../settings/schema.ts';
import { type FoundRules, findCommitRules } from './commit-rules.ts';
import type { Template } from './fill-template.ts';

/** How a repository wants its changes written. Read from the base branch, so a change cannot alter it. */
export interface Customs extends FoundRules, FoundTemplates {
  /** Whether each change comes with a file in `.changeset/`, from which a release tool writes the changelog. */
  hasChangesets: boolean;
}

export const noCustoms: Customs = { rules: undefined, from: '', notes: [], templates: [], hasChangesets: false };

/** Reads the customs of a repository at a commit of its base branch. */
export async function readCustoms(
  checkout: Checkout,
  commit: string,
  settings: Pick<RepositorySettings, 'commits'>,
): Promise<Customs> {
  const [rules, { templates, notes }, changesets] = await Promise.all([
    findCommitRules(checkout, commit, settings),
    findTemplates(checkout, commit),
    checkout.listFolder(commit, '.changeset'),
  ]);
  return { ...rules, notes: [...rules.notes, ...notes], templates, hasChangesets: changesets.length > 0 };
}

/** The folders in which GitHub looks for templates, in its order. */
const folders = ['.github', '', 'docs'];

/** At most this many templates of a repository are read. */
const maxTemplates = 10;
/** Characters kept of one template, and of all together. */
const maxChars = 16_000;
const maxAllChars = 40_000;

interface FoundTemplates {
  templates: Template[];
  notes: string[];
}

/**
 * Reads the templates of pull requests in all places where GitHub looks in a repository: single files come before those
 * of folders with several.
 */
export async function findTemplates(checkout: Checkout, commit: string): Promise<FoundTemplates> {
  const templates: Template[] = [];
  const notes: string[] = [];
  let left = maxAllChars;
  for (const path of (await pathsOf(checkout, commit)).slice(0, maxTemplates)) {
    const file = await checkout.readFile(commit, path);
    if (file === undefined) continue;
    if (file === 'too large') {
      notes.push(`the template ${path} is too large and is not used`);
      continue;
    }
    const text = file
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .replaceAll('\r\n', '\n')
      .trim();
    const kept = keptOf(text, Math.min(maxChars, left));
    const cut = text.length - kept.length;
    if (cut > 0) notes.push(`of the template ${path}, only the first ${kept.length} characters are used`);
    if (kept !== '') templates.push({ path, text: kept, cut });
    left -= kept.length;
  }
  return { templates, notes };
}

async function pathsOf(checkout: Checkout, commit: string): Promise<string[]> {
  const [single, several] = [[] as string[], [] as string[]];
  for (const folder of folders) {
    const prefix = folder === '' ? '' : `${folder}/`;
    for (const name of (await checkout.listFolder(commit, folder)).sort()) {
      if (/^pull_request_template\.(?:md|txt)$/i.test(name)) single.push(prefix + name);
      if (!/^pull_request_template$/i.test(name)) continue;
      const names = await checkout.listFolder(commit, prefix + name);
      several.push(
        ...names
          .filter(isText)
          .sort()
          .map((file) => `${prefix}${name}/${file}`),
      );
    }
  }
  return [...single.slice(0, 1), ...several];
}

const isText = (name: string) => /\.(?:md|txt)$/i.test(name);

/** Cuts a text at the end of a line. */
function keptOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf('\n', most);
  return text.slice(0, end > 0 ? end : most).trimEnd();
}
