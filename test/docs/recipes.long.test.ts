import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

interface Recipe {
  /** How the block begins. */
  begins: string;
  file: string;
  /** The line after which it is inserted; without one, it is added to the end of the file. */
  after?: RegExp;
  /** Imports that the file needs for it. */
  imports?: string;
  /** Makes a statement of the block a part of a module. */
  wrap?: (block: string) => string;
}

const recipes: Recipe[] = [
  { begins: 'export const OpenTasks', file: 'src/tasks/schemas.ts' },
  { begins: 'export function countOpenTasks', file: 'src/tasks/store.ts', imports: "import { Not } from 'typeorm';" },
  {
    begins: 'route({',
    file: 'src/tasks/routes.ts',
    after: /taskRoutes: Route\[\] = \[/,
    imports: "import { OpenTasks } from './schemas.ts';\nimport { countOpenTasks } from './store.ts';",
  },
  { begins: 'rename: {', file: 'src/github/commands/verbs.ts', after: /verbs: .* = \{/ },
  { begins: 'count_lines: {', file: 'src/repositories/read-tools.ts', after: /readTools = \{/ },
  { begins: 'export async function countLines', file: 'src/sandbox/inside/count-lines.mjs' },
  { begins: '/** A task is done', file: 'src/queue/names.ts', after: /interface Jobs \{/ },
  { begins: 'export async function deleteHandoffs', file: 'src/tasks/work-store.ts' },
  {
    begins: 'forget: {',
    file: 'src/jobs.ts',
    after: /jobs: .* = \{/,
    imports: "import { deleteHandoffs } from './tasks/work-store.ts';",
  },
  {
    begins: 'await app.queue.send',
    file: 'src/jobs.ts',
    imports: "import type { EntityManager } from 'typeorm';",
    wrap: (block) => `export async function sent(app: App, em: EntityManager, taskId: string) {\n${block}\n}`,
  },
  { begins: 'export async function listOpenTitles', file: 'src/sprints/store.ts' },
  { begins: 'import type { MigrationInterface', file: 'migrations/0021-project-colour.ts' },
  { begins: 'colour: string', file: 'src/db/tables/project.ts', after: /interface ProjectRow \{/ },
  { begins: 'colour: maybeText', file: 'src/db/tables/project.ts', after: /const Projects = .*\{/ },
  {
    begins: 'on.repository(',
    file: 'src/github/inbox/events.ts',
    after: /registerPulls\(on, app, inPlace\);/,
  },
  { begins: 'exports: Counter', file: 'src/http/metrics.ts', after: /interface Metrics \{/ },
  { begins: 'exports: new Counter', file: 'src/http/metrics.ts', after: /function ofServer.*\n {2}return \{/ },
  { begins: 'function zone', file: 'src/cli/doctor.ts', wrap: (block) => `export ${block}` },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-recipes-'));
  for (const each of ['src', 'migrations', 'package.json', 'tsconfig.json'])
    cpSync(join(root, each), join(folder, each), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the code blocks of a Markdown page, without the indentation of list items. */
function blocksOf(page: string): string[] {
  const found = page.matchAll(/^( *)```(?:ts|js)\n([\s\S]*?)^\1```$/gm);
  return [...found].map(([, indent = '', code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd());
}

function insert(recipe: Recipe, block: string): void {
  const { file, after, imports = '', wrap = (code) => code } = recipe;
  const path = join(folder, file);
  const isNew = file.startsWith('migrations/') || file.endsWith('.mjs');
  const before = isNew ? '' : readFileSync(path, 'utf8');
  const at = after === undefined ? undefined : after.exec(before);
  if (at === null) throw new Error(`${file} has no line like ${after}`);
  const [end, code] = [at === undefined ? before.length : at.index + at[0].length, wrap(block)];
  writeFileSync(path, `${imports}\n${before.slice(0, end)}\n${code}\n${before.slice(end)}`);
}

test('the recipes of docs/extending.md compile in their places', () => {
  const blocks = blocksOf(readFileSync(join(root, 'docs/extending.md'), 'utf8'));
  expect(blocks.map((block, i) => block.slice(0, recipes[i]?.begins.length))).toEqual(recipes.map((r) => r.begins));
  for (const [i, recipe] of recipes.entries()) insert(recipe, blocks[i] ?? '');
  const tsconfig = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...tsconfig, include: ['src', 'migrations'] }));
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], {
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, '']);
});

test('the handler of the new tool uses functions that exist', () => {
  const inside = (file: string) => readFileSync(join(root, 'src/sandbox/inside', file), 'utf8');
  const exported = ['files.mjs', 'paths.mjs', 'show.mjs', 'tool-error.mjs'].map(inside).join('\n');
  for (const name of ['meantPath', 'textOf', 'linesOf', 'inside', 'ToolError'])
    expect(exported).toMatch(new RegExp(`export (async function|function|class) ${name}\\b`));
});
