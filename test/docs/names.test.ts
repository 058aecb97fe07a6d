import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { tools } from '../../src/conversation/tools.ts';
import { verbs } from '../../src/github/commands/verbs.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The pages that say how things are now. Decisions and the changelog say how they were. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((f) => f.endsWith('.md'))
    .map((f) => `docs/${f}`),
];

/** Finds `one` and `another` in [a file](path): the names before a link to code, and the path. */
function namesBesideLinks(page: string): { names: string[]; path: string }[] {
  const text = read(page).replaceAll(/\s+/g, ' ');
  const beside = /((?:`\w+`(?:, and |, | and | or )?)+),? (?:in|of) \[[^\]]*\]\(([^)#:]+\.(?:tsx?|mjs))\)/g;
  return [...text.matchAll(beside)].map(([, names = '', path = '']) => ({
    names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    path: join(dirname(page), path),
  }));
}

test('what a page names beside a link to code is in that file', () => {
  const found = pages.flatMap((page) => namesBesideLinks(page).map((beside) => ({ page, ...beside })));
  expect(found.length).toBeGreaterThan(15);
  const missing = found.flatMap(({ page, names, path }) =>
    names.filter((name) => !new RegExp(`\\b${name}\\b`).test(read(path))).map((name) => `${page}: ${name} in ${path}`),
  );
  expect(missing).toEqual([]);
});

/** Returns the first cells of the rows of the table in a section of a page. */
function firstCells(page: string, title: string): string[] {
  const section = new RegExp(`^## ${title}\\n([\\s\\S]*?)(?=^## )`, 'm').exec(read(page))?.[1] ?? '';
  return [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell.trim());
}

test('docs/github.md lists every command', () => {
  const listed = firstCells('docs/github.md', 'Commands').flatMap((cell) => /^`\/agent (\w+)/.exec(cell)?.[1] ?? []);
  expect(listed.sort()).toEqual(Object.keys(verbs).sort());
});

test('docs/agents.md lists every tool that is offered', () => {
  const listed = firstCells('docs/agents.md', 'Tools').flatMap((cell) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  const offered = Object.keys(tools).filter((name) => tools[name]?.offer !== 'hidden');
  expect(listed.sort()).toEqual(offered.sort());
});

test('the dashboard has words for every tool', () => {
  // Read as text, because the types of browsers and of Node do not agree.
  const named = [...read('src/web/display/tool-verbs.ts').matchAll(/^ {2}(\w+): \['/gm)].map(([, name]) => name);
  expect(named.sort()).toEqual(Object.keys(tools).sort());
});
