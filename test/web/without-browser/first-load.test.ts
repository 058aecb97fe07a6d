import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// What the browser loads before it can show a page, from the build's own list of files.

const built = join(import.meta.dirname, '../../../dist/web');

interface Chunk {
  name?: string;
  file: string;
  css?: string[];
  imports?: string[];
}

const manifest = JSON.parse(readFileSync(join(built, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;

/** Returns the files of chunks and of everything that they import, without what is loaded later. */
function filesOf(keys: string[], seen = new Set<string>()): string[] {
  return keys.flatMap((key) => {
    if (seen.has(key)) return [];
    seen.add(key);
    const { file, css = [], imports = [] } = manifest[key] as Chunk;
    return [file, ...css, ...filesOf(imports, seen)];
  });
}

/** Returns the files that the browser loads before it shows a page. */
function filesOfPage(name: string): string[] {
  const key = Object.keys(manifest).find((each) => manifest[each]?.name === name);
  if (key === undefined) throw new Error(`the build has no chunk ${name}`);
  return [...new Set(filesOf(['index.html', key]))];
}

/** Returns the total size of files as browsers get them that do not know Brotli. */
const sizeOf = (files: string[]) =>
  files.reduce((sum, file) => sum + readFileSync(join(built, `${file}.gz`)).length, 0);

// The rest of 400 kB is for the document and the data.
test.each([
  ['board-page', 250_000, 275_000],
  ['task-page', 300_000, 330_000],
])('the first load of %s has less than %d bytes of script and %d in all', (name, script, all) => {
  const files = filesOfPage(name);
  expect(sizeOf(files.filter((file) => file.endsWith('.js')))).toBeLessThan(script);
  expect(sizeOf(files)).toBeLessThan(all);
});

/** The chunks with the libraries for charts, diffs and Markdown. */
const large = ['chart-style', 'changes-tab', 'formatted-text'];

test.each(['board-page', 'task-page'])('charts, diffs and Markdown are not part of the first load of %s', (name) => {
  const chunks = Object.values(manifest).map((chunk) => chunk.name);
  expect(chunks).toEqual(expect.arrayContaining(large));
  const files = filesOfPage(name).join(' ');
  for (const each of large) expect(files).not.toContain(each);
});

test('the worker that parses Markdown is a file of its own, which does not ask the document of a page', () => {
  const workers = globSync('assets/worker-*.js', { cwd: built });
  expect(workers).toHaveLength(1);
  expect(textOf(workers.map((file) => join(built, file)))).not.toContain('document.createElement');
});

const textOf = (files: string[]) => files.map((file) => readFileSync(file, 'utf8')).join('');

/** The names of variables that a text declares in the way of stylesheets. */
const declaredIn = (css: string) => new Set(css.match(/--[\w-]+(?=:)/g));

test('the build has each variable of the themes that it uses, and leaves the others out', () => {
  const primitives = join(import.meta.dirname, '../../../node_modules/@primer/primitives/dist/css');
  const ofPrimer = declaredIn(textOf(globSync(join(primitives, '{base,functional}/**/*.css'))));
  const styles = textOf(globSync(join(built, 'assets/*.css')));
  const used = (styles + textOf(globSync(join(built, 'assets/*.js')))).matchAll(/var\((--[\w-]+)/g);
  const wanted = new Set([...used].map(([, name = '']) => name).filter((name) => ofPrimer.has(name)));
  const declared = declaredIn(styles);
  expect([...wanted].filter((name) => !declared.has(name))).toEqual([]);
  expect(wanted.size).toBeGreaterThan(300);
  expect(declared.size).toBeLessThan(ofPrimer.size / 1.4);
});
