import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((f) => /\.(tsx?|mjs)$/.test(f) && f !== 'web/api.ts') // generated
  .map((f) => join(root, f));

const imports = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map((m) => ({
    from: relative(root, file),
    to: relative(root, resolve(file, '..', m[1] ?? '')),
  })),
);

test('only the shell imports from outside of src, and only migrations', () => {
  expect(imports.filter(({ to }) => to.startsWith('..'))).toEqual([
    { from: 'compose.ts', to: '../migrations/list.ts' },
  ]);
});

test('only config.ts reads the environment, and only compose.ts creates clients', () => {
  const holding = (pattern: RegExp) =>
    files
      .filter((f) => pattern.test(readFileSync(f, 'utf8')))
      .map((f) => relative(root, f))
      .filter((f) => !f.startsWith('demo/'));
  expect(holding(/process\.env\b/)).toEqual(['config.ts']);
  expect(holding(/new (\w*Octokit|OpenAI|Probot)\b/)).toEqual(['compose.ts']);
  expect(holding(/new DataSource\b/)).toEqual(['db/database.ts']);
});

test('files are short and have descriptive names', () => {
  const long = files.filter((f) => readFileSync(f, 'utf8').split('\n').length > 250).map((f) => relative(root, f));
  expect(long).toEqual([]);
  const vague = files.filter((f) =>
    /(^|\/)(utils?|helpers?|common|misc|shared|services?|types|lib)(\/|\.)/.test(relative(root, f)),
  );
  expect(vague.map((f) => relative(root, f))).toEqual([]);
});
