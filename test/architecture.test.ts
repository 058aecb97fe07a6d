import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((f) => /\.(tsx?|mjs)$/.test(f) && f !== 'web/api.ts') // generated
  .map((f) => join(root, f));

/** Features in their order: each may import those to its left. */
const features = ['projects', 'repositories', 'agents', 'tasks', 'runs', 'sprints', 'planning', 'github'];
const adapters = ['host', 'threads', 'git', 'llm', 'sandbox', 'queue', 'db', 'outgoing'];

function mayImport(from: string, to: string): boolean {
  const [a = '', b = ''] = [from.split('/')[0], to.split('/')[0]];
  const isTop = !from.includes('/');
  if (isTop || a === 'cli' || a === 'demo') return true;
  if (a === b) return true;
  // The dashboard knows the service by its interface, and shares its rules.
  if (a === 'web') return b === 'domain';
  if (a === 'domain') return false;
  if (adapters.includes(a)) return ['domain', 'errors.ts', 'host', 'threads'].includes(b);
  if (a === 'http') return ['domain', 'db', 'errors.ts', 'app.ts'].includes(b);
  if (['domain', 'errors.ts', 'app.ts', 'http', ...adapters].includes(b)) return true;
  return features.includes(b) && features.indexOf(b) < features.indexOf(a);
}

const imports = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map((m) => ({
    from: relative(root, file),
    to: relative(root, resolve(file, '..', m[1] ?? '')),
  })),
);

test('imports follow the floor plan', () => {
  expect(imports.length).toBeGreaterThan(100);
  const wrong = imports.filter(({ from, to }) => !to.startsWith('..') && !mayImport(from, to));
  expect(wrong).toEqual([]);
});

test('only the shell reaches out of src, and only for migrations', () => {
  expect(imports.filter(({ to }) => to.startsWith('..'))).toEqual([
    { from: 'compose.ts', to: '../migrations/list.ts' },
  ]);
});

test('the environment is read in config.ts only, clients are made in compose.ts only', () => {
  const holding = (pattern: RegExp) =>
    files
      .filter((f) => pattern.test(readFileSync(f, 'utf8')))
      .map((f) => relative(root, f))
      .filter((f) => !f.startsWith('demo/'));
  expect(holding(/process\.env\b/)).toEqual(['config.ts']);
  expect(holding(/new (\w*Octokit|OpenAI|Probot)\b/)).toEqual(['compose.ts']);
  expect(holding(/new DataSource\b/)).toEqual(['db/database.ts']);
});

test('a file stays short, and its name says what it holds', () => {
  const long = files.filter((f) => readFileSync(f, 'utf8').split('\n').length > 250).map((f) => relative(root, f));
  expect(long).toEqual([]);
  const vague = files.filter((f) =>
    /(^|\/)(utils?|helpers?|common|misc|shared|services?|types|lib)(\/|\.)/.test(relative(root, f)),
  );
  expect(vague.map((f) => relative(root, f))).toEqual([]);
});
