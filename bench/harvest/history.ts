import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** What a change of the history is. */
export type Kind =
  | 'usable'
  | 'merged'
  | 'no tests'
  | 'tests only'
  | 'document'
  | 'passes before'
  | 'too large'
  | 'lock file'
  | 'binary'
  | 'flaky'
  | 'broken'
  | 'repair';

/** A change that was made, and what is true about it. */
export interface Made {
  sha: string;
  kind: Kind;
  message: string;
  isUsable: boolean;
}

/** How often each kind occurs among 100 changes. Flaky and broken ones are followed by a repair. */
const usualParts: [Kind, number][] = [
  ['no tests', 32],
  ['document', 24],
  ['usable', 8],
  ['merged', 2],
  ['tests only', 10],
  ['passes before', 6],
  ['too large', 4],
  ['lock file', 5],
  ['binary', 3],
  ['flaky', 1],
  ['broken', 2],
];

const modules = 6;
type Files = Record<string, string | Buffer | null>;

/** The files of the repository as they are now. */
class State {
  readonly functions: number[][] = Array.from({ length: modules }, () => []);
  readonly tested: number[][] = Array.from({ length: modules }, () => []);
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  module(): number {
    return Math.floor(this.#random() * modules);
  }

  code(m: number, more = ''): Files {
    const lines = this.functions[m]?.map((n) => `export function add${n}(value) {\n  return value + ${n};\n}\n`) ?? [];
    return { [`src/m${m}.js`]: `export const name = 'm${m}';\n${lines.join('')}${more}` };
  }

  tests(m: number, more = ''): Files {
    const lines = this.tested[m]?.map(
      (n) => `test('add${n} adds ${n}', () => {\n  assert.equal(m.add${n}(1), ${n + 1});\n});\n`,
    );
    const head = `import assert from 'node:assert';\nimport test from 'node:test';\nimport * as m from '../src/m${m}.js';\n`;
    const first = `test('it has a name', () => {\n  assert.equal(m.name, 'm${m}');\n});\n`;
    return { [`test/m${m}.test.js`]: `${head}${first}${(lines ?? []).join('')}${more}` };
  }
}

/** A generator of numbers from 0 to 1 that gives the same ones for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Chooses the kinds of a history, in a random order. */
export function kindsOf(count: number, seed: number): Kind[] {
  const random = randomFrom(seed);
  const all = usualParts.flatMap(([kind, of100]) =>
    Array.from({ length: Math.round((of100 * count) / 100) }, () => kind),
  );
  while (all.length < count) all.push('no tests');
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [all[i], all[j]] = [all[j] as Kind, all[i] as Kind];
  }
  const withRepairs = all.flatMap((kind): Kind[] => (['flaky', 'broken'].includes(kind) ? [kind, 'repair'] : [kind]));
  return withRepairs.slice(0, count);
}

/** How often a flaky test fails: so often that a few tries show it. */
const flakiness = 0.75;

/** Returns the files that a change of this kind writes. */
function filesOf(kind: Kind, n: number, state: State, last: number): Files {
  const m = kind === 'repair' ? last : state.module();
  const add = (...lists: number[][][]) => {
    for (const list of lists) list[m]?.push(n);
  };
  switch (kind) {
    case 'usable':
    case 'merged':
      add(state.functions, state.tested);
      return { ...state.code(m), ...state.tests(m) };
    case 'no tests':
      add(state.functions);
      return state.code(m);
    case 'document':
      return { 'README.md': `# Sample\n\nChange ${n}.\n` };
    case 'tests only': {
      const untested = state.functions[m]?.find((each) => !state.tested[m]?.includes(each));
      if (untested === undefined) return state.tests(m, `test('nothing ${n}', () => {});\n`);
      state.tested[m]?.push(untested);
      return state.tests(m);
    }
    case 'passes before':
      return {
        ...state.code(m, `// Change ${n}.\n`),
        ...state.tests(m, `test('it is there ${n}', () => {\n  assert.ok(m);\n});\n`),
      };
    case 'too large': {
      add(state.functions, state.tested);
      const table = Array.from({ length: 900 }, (_, i) => `  ${i * n},\n`).join('');
      return { ...state.code(m), ...state.tests(m), [`src/table${n}.js`]: `export const table = [\n${table}];\n` };
    }
    case 'lock file':
      add(state.functions, state.tested);
      return { ...state.code(m), ...state.tests(m), 'package-lock.json': lockOf(n) };
    case 'binary':
      add(state.functions, state.tested);
      return { ...state.code(m), ...state.tests(m), 'data/image.bin': Buffer.from([0, 1, n & 255, 0, n >> 8]) };
    case 'flaky':
      add(state.functions);
      return {
        ...state.code(m),
        ...state.tests(
          m,
          `test('add${n} adds ${n}, mostly', () => {\n  assert.equal(m.add${n}(1), ${n + 1});\n  assert.ok(Math.random() > ${flakiness});\n});\n`,
        ),
      };
    case 'broken':
      add(state.functions);
      return {
        ...state.code(m),
        ...state.tests(m, `test('add${n} is wrong', () => {\n  assert.equal(m.add${n}(1), 0);\n});\n`),
      };
    case 'repair':
      add(state.functions, state.tested);
      return { ...state.code(m), ...state.tests(m) };
  }
}

const lockOf = (n: number) =>
  `${JSON.stringify({ name: 'sample', version: `1.0.${n}`, lockfileVersion: 3, packages: { '': { name: 'sample', version: `1.0.${n}` } } }, null, 2)}\n`;

const settings = 'setup: []\nchecks: ["node --test --test-isolation=none"]\n';

/** Says what a change does, as people write it. Some name the place of their pull request. */
const messageOf = (kind: Kind, n: number) => `${kind === 'usable' ? `Add add${n}` : `Change ${n} (${kind})`}`;

export interface History {
  /** The bare repository. */
  bare: string;
  /** Oldest first. */
  made: Made[];
}

/** Makes a repository with these changes, whose truth is known. Commits are an hour apart. */
export async function makeHistory(folder: string, kinds: Kind[], seed: number): Promise<History> {
  const [work, bare] = [join(folder, 'work'), join(folder, 'sample.git')];
  await mkdir(work, { recursive: true });
  const state = new State(randomFrom(seed + 1));
  const begin = Date.parse('2025-01-01T00:00:00Z') / 1000;
  let at = begin;
  const git = async (...args: string[]) => {
    const date = `${at} +0000`;
    const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const person = ['-c', 'user.name=T', '-c', 'user.email=t@example.com', '-c', 'gc.auto=0'];
    return (await promisify(execFile)('git', [...person, '-C', work, ...args], { env })).stdout.trim();
  };
  const commit = async (files: Files, message: string) => {
    at += 3600;
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(work, path)), { recursive: true });
      if (content === null) await rm(join(work, path));
      else await writeFile(join(work, path), content);
    }
    await git('add', '-A');
    await git('commit', '-q', '--allow-empty', '-m', message);
  };
  await git('init', '-q', '-b', 'main');
  const all = Array.from({ length: modules }, (_, m) => ({ ...state.code(m), ...state.tests(m) }));
  const manifest = `${JSON.stringify({ name: 'sample', version: '1.0.0', type: 'module' })}\n`;
  await commit(Object.assign({ '.deckhand.yml': settings, 'package.json': manifest }, ...all), 'First');
  const made: Made[] = [];
  let last = 0;
  for (const [i, kind] of kinds.entries()) {
    const n = i + 1;
    const files = filesOf(kind, n, state, last);
    last = Number(/m(\d)\.test/.exec(Object.keys(files).join(' '))?.[1] ?? last);
    const message = messageOf(kind, n);
    if (kind === 'merged') {
      await git('checkout', '-q', '-b', 'side');
      await commit(Object.fromEntries(Object.entries(files).slice(0, 1)), `${message}, its code`);
      await commit(files, `${message}, its tests`);
      await git('checkout', '-q', 'main');
      await git('merge', '-q', '--no-ff', '-m', `Merge branch 'side': ${message}`, 'side');
      await git('branch', '-q', '-D', 'side');
    } else await commit(files, message);
    made.push({ sha: await git('rev-parse', 'HEAD'), kind, message, isUsable: kind === 'usable' || kind === 'merged' });
  }
  await promisify(execFile)('git', ['clone', '-q', '--bare', work, bare]);
  await promisify(execFile)('git', ['-C', bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true']);
  return { bare, made };
}
