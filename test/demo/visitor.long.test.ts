import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changeFor } from '../../demo/model/change.ts';
import type { ModelRequest, Said } from '../../demo/model/model.ts';
import { player } from '../../demo/model/player.ts';
import { issue } from '../../demo/model/story.ts';
import { openingMessages } from '../../src/conversation/prompts.ts';
import { isUsualTestFile } from '../../src/domain/proof/tests/test-files.ts';
import type { HostClient } from '../../src/sandbox/open-tools.ts';
import { toolHosts } from '../sandbox/tool-hosts.ts';
import { gitOut } from '../support/git.ts';

// What visitors of the demo see: the answers of its model, carried out by the real tools in the sample project.

const hosts = toolHosts();
let work: string;
let host: HostClient;
const git = (...args: string[]) => gitOut(work, ...args);

beforeEach(() => {
  work = hosts.work();
  cpSync(fileURLToPath(new URL('../../demo/sample-repository', import.meta.url)), work, { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
  commit('A first version');
  host = hosts.open();
});

function commit(message: string): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
}

/** Returns whether the tests pass in a folder. */
function passes(folder = work): boolean {
  try {
    // Node takes a variable of the test runner for the sign that it is a test of another one. All files in one process,
    // because each process takes longer to start than their tests.
    execFileSync(process.execPath, ['--test', '--test-isolation=none'], {
      cwd: folder,
      env: { PATH: process.env.PATH },
      stdio: 'pipe',
    });
    return true;
  } catch {
    return false;
  }
}

interface Given {
  instructions?: string;
  conflicts?: string[];
  sections?: string[];
  /** An earlier run has told what it did. */
  isLater?: boolean;
  /** What people say, by the number of turns before. */
  says?: Record<number, string>;
}

/** Carries out a run in the work tree as it is, until the model finishes for the second time. Returns its last call. */
async function run(title: string, given: Given = {}) {
  const opening = openingMessages({
    ...{ agent: { systemPrompt: '' }, task: { title, description: '' }, hasShell: true, repositoryName: 'sample' },
    ...{ run: { instructions: given.instructions ?? '' }, conflicts: given.conflicts ?? [], related: [], others: [] },
    ...{ instructions: 'Keep accented letters in slugs', checks: ['npm test'], sections: given.sections ?? [] },
    handoffs: given.isLater ? [{ summary: 'Done.', nextSteps: [] }] : [],
    map: (await host.call('list_files', { depth: 2 })).text,
  } as unknown as Parameters<typeof openingMessages>[0]);
  const messages = opening as ModelRequest['messages'];
  return converse(messages, given.says ?? {});
}

const tools = ['list_files', 'read_file', 'write_file', 'edit_file', 'run_command', 'finish'];

async function converse(messages: ModelRequest['messages'], says: Record<number, string>) {
  for (let turn = 0, finishes = 0; ; turn++) {
    if (says[turn] !== undefined) messages.push({ role: 'user', content: says[turn] });
    if (turn > 15) throw new Error(`the model does not finish: ${JSON.stringify(messages.slice(-4))}`);
    const said = answer({ model: 'scripted', messages, tools: tools.map((name) => ({ function: { name } })) }, turn);
    if (!Array.isArray(said)) throw new Error(`the model says ${JSON.stringify(said)}`);
    const calls = said.map(({ name, arguments: given }, i) => ({
      id: `call_${i}`,
      function: { name, arguments: JSON.stringify(given) },
    }));
    messages.push({ role: 'assistant', content: null, tool_calls: calls } as ModelRequest['messages'][number]);
    for (const [i, { name, arguments: given }] of said.entries())
      messages.push({ role: 'tool', content: await resultOf(name, given), tool_call_id: `call_${i}` } as never);
    const last = said.at(-1);
    if (last?.name === 'finish' && ++finishes === 2) return last.arguments as { title: string; summary: string };
  }
}

const answer = (request: ModelRequest, turn: number): Said =>
  typeof player === 'function' ? player(request, turn) : 'Done.';

async function resultOf(name: string, given: object): Promise<string> {
  if (name === 'finish') return 'Look at your change.';
  if (name === 'run_command') return passes() ? '[exit code 0]' : '[exit code 1]';
  const { ok, text } = await host.call(name, given);
  return ok ? text : `Error: ${text}`;
}

/** Does a task on a branch of its own from main, or again on the branch that it has. */
async function doTask(branch: string, title: string, given: Given = {}) {
  git('checkout', '--quiet', ...(given.isLater ? [branch] : ['-b', branch, 'main']));
  const finished = await run(title, given);
  commit(finished.title);
  return finished;
}

/** Returns whether the tests of a change fail without it, and the earlier ones pass with it, as a proof finds out. */
function proved(branch: string): boolean {
  const base = git('merge-base', 'main', branch);
  const mixed = (code: string, tests: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-visitor-'));
    try {
      git('--work-tree', folder, 'checkout', code, '--', '.');
      rmSync(join(folder, 'test'), { recursive: true });
      git('--work-tree', folder, 'checkout', tests, '--', 'test');
      return passes(folder);
    } finally {
      rmSync(folder, { recursive: true });
      git('reset', '--quiet', '--hard');
    }
  };
  return !mixed(base, branch) && mixed(branch, base) && mixed(branch, branch);
}

function merge(branch: string): void {
  git('checkout', '--quiet', 'main');
  git('merge', '--quiet', '--no-ff', '--message', `Merge ${branch}`, branch);
}

test('three tasks of a visitor are three proved changes, which merge in any order, and one of them can be undone', async () => {
  const titles = ['Let callers choose the separator', 'Add a dark mode', 'README: show an example'];
  await doTask('issue', issue.title);
  const finished = [];
  for (const title of titles) finished.push(await doTask(`task-${titles.indexOf(title)}`, title));
  expect(finished.map(({ title }) => title)).toEqual(titles);
  for (const [i, { summary }] of finished.entries()) expect(summary).toContain(titles[i]);
  expect(new Set(finished.map(({ summary }) => summary)).size).toBe(3);
  for (const branch of ['issue', 'task-0', 'task-1', 'task-2']) {
    expect([branch, proved(branch)]).toEqual([branch, true]);
    merge(branch);
  }
  expect(passes()).toBe(true);
  git('revert', '--no-edit', '--mainline', '1', 'main~2');
  expect(git('diff', '--name-only', '--diff-filter=D', 'main~1').split('\n')).toEqual([
    'src/let-callers-choose-the-separator.js',
    'test/let-callers-choose-the-separator.test.js',
  ]);
  expect(passes()).toBe(true);
});

/** Merges main into the branch, as a run does that has to resolve conflicts. Returns the files that conflict. */
function mergeMain(branch: string): string[] {
  git('checkout', '--quiet', branch);
  expect(() => git('merge', '--no-commit', 'main')).toThrow();
  return git('diff', '--name-only', '--diff-filter=U').split('\n');
}

const textOf = (path: string) => readFileSync(join(work, path), 'utf8');

test('a run that merges the base branch resolves conflicts, and keeps what people asked for on both sides', async () => {
  const [title, path] = ['Cut long slugs', 'src/cut-long-slugs.js'];
  for (const [branch, wish] of Object.entries({ first: 'Use a loop.', second: 'Name the limit.' })) {
    await doTask(branch, title, { says: { 2: `[mona says]\n${wish}` } });
    writeFileSync(join(work, 'src/slugify.js'), textOf('src/slugify.js').replace('/** ', `/** By ${branch}: `));
    commit('By hand');
  }
  merge('first');
  const conflicts = mergeMain('second');
  expect(conflicts).toEqual([path, 'src/slugify.js']);
  const instructions =
    'The branch conflicts with its base branch. Merge the base branch in and keep what both sides meant.';
  await run(title, { conflicts, instructions, isLater: true });
  expect(textOf(path)).toMatch(/As you asked: Name the limit\.[\s\S]+As you asked: Use a loop\./);
  expect(textOf(path)).not.toContain('As you asked: The branch');
  for (const conflict of conflicts) expect(textOf(conflict)).not.toMatch(/^(<<<<<<<|=======|>>>>>>>)/m);
  expect(textOf('src/slugify.js')).toMatch(/By second: .+\n.+By first: /);
  expect(passes()).toBe(true);
});

test('a conflict that an earlier conversation goes on with is resolved, and one of an undo brings the old lines back', async () => {
  const conflicted = (now: string, before: string) =>
    `<<<<<<< now\n${now}\n||||||| base\nx\n=======\n${before}\n>>>>>>> before\nrest\n`;
  hosts.write({ 'notes.txt': conflicted('new', 'old') });
  const said = '[A new run continues here] The run before ended.\n\n## The base branch was merged\nThese:\n- notes.txt';
  await run('Cut long slugs', { says: { 4: said } });
  expect(textOf('notes.txt')).toBe('new\nold\nrest\n');
  git('checkout', '--quiet', '.');
  git('clean', '--quiet', '--force');
  hosts.write({ 'notes.txt': conflicted('new', 'old') });
  const sections = ['## Reverts\n\n- https://github.com/o/r/pull/1, with conflicts in notes.txt'];
  const finished = await run('Undo: notes', { sections });
  expect(finished.title).toBe('Undo: notes');
  expect(textOf('notes.txt')).toBe('old\nrest\n');
  expect(git('status', '--porcelain')).toBe('?? notes.txt');
});

test('a second task with the title of a merged one changes something too, and a later run keeps what was asked before', async () => {
  const title = 'Cut long slugs';
  await doTask('first', title);
  merge('first');
  await doTask('second', title, { says: { 1: '[mona says]\nUse a loop.' } });
  const files = () => git('diff', '--name-only', 'main', 'second').split('\n');
  const own = ['src/cut-long-slugs-2.js', 'test/cut-long-slugs-2.test.js'];
  expect(files()).toEqual(own);
  await doTask('second', title, { isLater: true, instructions: 'Name the limit.' });
  expect(files()).toEqual(own);
  expect(textOf(own[0] ?? '')).toMatch(/As you asked: Use a loop\.[\s\S]+As you asked: Name the limit\./);
  await doTask('issue', issue.title);
  merge('issue');
  await doTask('again', issue.title);
  expect(git('diff', '--name-only', 'main', 'again')).toContain('src/slugify-drops-accented-letters.js');
});

test('a revision of the issue of the demo writes what people asked for beside its change', async () => {
  await doTask('issue', issue.title);
  await doTask('issue', issue.title, { isLater: true, instructions: 'src/slugify.js:4\n\nExplain this.' });
  expect(git('diff', '--name-only', 'main', 'issue').split('\n')).toEqual([
    'docs/slugify-drops-accented-letters.md',
    'src/slugify.js',
    'test/slugify.test.js',
  ]);
  expect(textOf('docs/slugify-drops-accented-letters.md')).toContain('- As you asked: src/slugify.js:4 Explain this.');
});

test('any title becomes files of its own whose tests pass', () => {
  const titles = [
    ...[
      'Separator',
      'Long titles',
      'Numbers in slugs',
      'Spell out emoji',
      'German umlauts',
      'Unique slugs',
      'Empty titles',
    ],
    ...['Dates in slugs', 'Nested folders', 'Names in camelCase', 'Stop words', 'Strip HTML', 'Slugs back into titles'],
    ...['Validate slugs', 'Many titles at once', 'Describe the options in the README', 'Guide'],
    ...[
      'Test',
      'Tests: a dark mode',
      'spec',
      'slugify',
      'delete',
      'class',
      '3 columns',
      '🚀',
      '日本',
      '日本語',
      "It's done",
    ],
    ...[
      'Use */ and \\ and `backticks` here',
      'Setup',
      'Config',
      `${'long '.repeat(39)}a`,
      `${'long '.repeat(39)}b`,
      '"Quoted"',
    ],
    `slugify ${'x'.repeat(50)}`,
  ];
  const paths: string[] = [];
  for (const title of titles) {
    const { files } = changeFor({ title, wishes: ['Keep it short.'], number: 1 });
    for (const { path, content } of files) {
      mkdirSync(join(work, path, '..'), { recursive: true });
      writeFileSync(join(work, path), content);
      paths.push(path);
    }
    expect(files.filter(({ path }) => isUsualTestFile(path)).map(({ path }) => path)).toEqual([
      expect.stringMatching(/^test\/[a-z0-9-]+\.test\.js$/),
    ]);
  }
  expect(new Set(paths).size).toBe(paths.length);
  const output = execFileSync(process.execPath, ['--test', '--test-isolation=none', '--test-reporter=tap'], {
    cwd: work,
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
  });
  expect(output).toMatch(new RegExp(`^# pass ${titles.length + 2}$`, 'm'));
});
