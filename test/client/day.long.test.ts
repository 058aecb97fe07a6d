import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Said, Script } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { gitOut } from '../support/git.ts';
import { openWorld, type World, type WorldTask } from '../support/world.ts';
import { beginProcess, openPersons, type Person } from './command.ts';

/** The test plays a day of a person who has nothing but the command line. */
let world: World;
let mona: Person;
let played: Said[] = [];
let before = async () => {};
const openPerson = openPersons();
beforeAll(async () => {
  const script: Script = (_request, turn) => played[Math.min(turn, played.length - 1)] ?? 'Done.';
  world = await openWorld(script, { before: () => before(), settings: { SANDBOX: 'off' } });
  mona = openPerson();
  const login = await mona.run(['login', world.service.url], { stdin: world.token });
  expect(login).toMatchObject({ code: 0, stderr: '' });
});
afterAll(() => world.close());
afterEach(() => {
  before = async () => {};
});

const write = (path: string, content: string) => ({ name: 'write_file', arguments: { path, content } });
const finish = (summary: string) => ({ name: 'finish', arguments: { summary, nextSteps: ['Translate it'] } });
/** Makes the model wait before each answer until `go` is called. */
function hold(): () => void {
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  before = () => gate;
  return go;
}
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('a task is created, started, watched, told something, looked at, opened and merged', async () => {
  const go = hold();
  played = [[write('hello.txt', 'hello\n')], [finish('Says \x1b[31mhello.')]];
  const task = await mona.json(
    'task',
    'create',
    'Say hello',
    '--agent',
    'Developer',
    '--repository',
    'sample',
    '--start',
  );
  expect(task).toMatchObject({ status: 'in_progress' });
  const plain = mona.begin(['task', 'watch', task.id.slice(-8)]);
  const lines = mona.begin(['task', 'watch', task.id, '--json']);
  const logs = mona.begin(['run', 'logs', '-f', task.id, '--json']);
  await until(
    'both watch',
    async () => /continues|begins/.test(plain.stdout()) && lines.stdout() !== '' && logs.stdout() !== '',
  );
  expect(await mona.run(['task', 'say', task.id, 'Use lower case'])).toMatchObject({ code: 0, stderr: '' });
  await until('the message', async () => plain.stdout().includes('Use lower case'));
  go();
  expect(await plain.ended).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/In review: http.*\/pull\/\d+\n/),
  });
  expect((await plain.ended).stdout).not.toContain('\x1b');
  const seen = linesOf((await lines.ended).stdout);
  expect(seen.at(-1)).toMatchObject({ type: 'task', task: { id: task.id, status: 'in_review' } });
  const ids = seen.filter((line) => line.type === 'event').map((line) => line.event.id);
  expect(new Set(ids).size).toBe(ids.length);
  const followed = linesOf((await logs.ended).stdout);
  const [run] = await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  expect(await mona.json('run', 'logs', run?.id ?? '')).toEqual(followed);
  expect((await mona.run(['run', 'logs', task.id])).stdout).toMatch(/^\d\d:\d\d:\d\d {2}/);
  expect(await mona.json('inbox')).toEqual([expect.objectContaining({ taskId: task.id, reason: 'review' })]);
  expect(await mona.run(['quote', task.id])).toMatchObject({ code: 0, stdout: expect.stringContaining('No quote: ') });
  await opens(task);
  expect(await mona.run(['task', 'merge', task.id])).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Note: The proof by tests did not run: .*\n$/),
  });
  expect(await mona.run(['task', 'watch', task.id])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('done'),
  });
  expect(await mona.json('inbox')).toEqual([]);
});

/** Opens the branch of a task in a clone. */
async function opens(task: WorldTask): Promise<void> {
  const { branchName, ...found } = await world.get<WorldTask>(`/tasks/${task.id}`);
  const branch = branchName ?? '';
  const cwd = join(mona.home, 'clone');
  const run = (...args: string[]) => mona.run(['open', task.id, ...args], { cwd });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', cwd, ...args], { encoding: 'utf8', env: { ...process.env, HOME: mona.home } });
  writeFileSync(join(mona.home, '.gitconfig'), '[user]\nname=Mona\nemail=mona@example.com\n');
  mkdirSync(cwd);
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('git clone ') });
  const bare = world.github.folderOf('mona/sample');
  execFileSync('git', ['clone', '-q', '-b', 'main', bare, cwd]);
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('git remote add') });
  // The host of the emulator serves git; a person has the address of the repository, in one of its forms.
  const [repository] = await world.get<{ url: string }[]>('/repositories');
  git('remote', 'set-url', 'origin', `${repository?.url}.git`);
  git('config', `url.${bare}.insteadOf`, `${repository?.url}.git`);
  writeFileSync(join(cwd, 'README.md'), 'mine\n');
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('not committed') });
  expect(readFileSync(join(cwd, 'README.md'), 'utf8')).toBe('mine\n');
  git('checkout', '-q', 'README.md');
  const opened = await run('--json');
  expect(opened).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(opened.stdout)).toMatchObject({
    branch,
    remote: 'origin',
    handoff: { nextSteps: ['Translate it'] },
  });
  expect(git('branch', '--show-current').trim()).toBe(branch);
  expect(git('rev-parse', 'HEAD').trim()).toBe(gitOut(bare, 'rev-parse', branch));
  expect(readFileSync(join(cwd, 'hello.txt'), 'utf8')).toBe('hello\n');
  // Again, from another branch and behind: it is brought up to date.
  git('reset', '-q', '--hard', 'HEAD~1');
  git('checkout', '-q', 'main');
  const again = await run();
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/Handoff:\n.*hello\.\n- Translate it\n/s) });
  expect(again.stdout).not.toContain('\x1b');
  expect(git('rev-parse', 'HEAD').trim()).toBe(gitOut(bare, 'rev-parse', branch));
  // Commits of both sides are nobody's to throw away.
  git('reset', '-q', '--hard', 'HEAD~1');
  git('commit', '-q', '--allow-empty', '-m', 'mine');
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('both have new commits') });
  expect(found.status).toBe('in_review');
}

test('a plan is watched on a terminal, changed and approved', async () => {
  const go = hold();
  const plan = [{ name: 'propose_plan', arguments: { markdown: 'First \x1b[31mthis', files: ['bye.txt'] } }];
  played = [plan, [write('bye.txt', 'bye\n')], [finish('Says bye.')]];
  const task = await mona.json('task', 'create', 'Say bye', '--agent', 'Developer', '--plan-first', '--start');
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: mona.home,
    XDG_CONFIG_HOME: join(mona.home, 'config'),
    TERM: 'xterm',
  };
  const bin = join(import.meta.dirname, '../../client/bin/deckhand.js');
  const command = `${process.execPath} ${bin} task watch ${task.id}`;
  const watching = beginProcess('script', ['-qec', command, '/dev/null'], undefined, { cwd: mona.home, env });
  await until('the line', async () => watching.stdout().includes('turn 0'));
  go();
  await until('the plan', async () => watching.stdout().includes(`deckhand task approve ${task.id}`));
  // The only sequence is that which clears the line.
  expect(watching.stdout().replaceAll('\r\x1b[2K', '')).not.toContain('\x1b');
  expect(watching.stdout()).toContain('\x1b[2K');
  const { attention } = await mona.json('task', 'show', task.id);
  expect(attention).toMatchObject({ reason: 'plan' });
  expect(await mona.run(['task', 'approve', task.id, '--id', 'earlier'])).toMatchObject({ code: 1 });
  expect(await mona.run(['task', 'approve', task.id, '--id', attention.id])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Approved the plan of /),
  });
  expect((await watching.ended).code).toBe(0);
  expect(watching.stdout()).toContain('In review: ');
});

test('watch ends with 1 when the task failed, and say answers a question', async () => {
  const ask = [{ name: 'ask_person', arguments: { question: 'Which?', options: ['one', 'two'] } }];
  played = [ask, [{ name: 'give_up', arguments: { reason: 'it cannot be done' } }]];
  const task = await mona.json('task', 'create', 'Do it', '--agent', 'Developer', '--start');
  const watching = mona.begin(['task', 'watch', task.id]);
  await until('the question', async () => watching.stdout().includes('2. two'));
  expect(await mona.run(['task', 'say', task.id, '2'])).toMatchObject({ code: 0 });
  expect(await watching.ended).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('Failed (gave_up): it cannot be done'),
  });
  expect(await mona.run(['task', 'watch', task.id, '--json'])).toMatchObject({ code: 1 });
  played = [[write('x.txt', 'x\n')], [finish('Did it.')]];
  expect(await mona.run(['task', 'retry', task.id, 'It can'])).toMatchObject({ code: 0 });
  expect(await mona.run(['task', 'watch', task.id])).toMatchObject({ code: 0 });
});

test('watch survives a restart of the service', async () => {
  const go = hold();
  played = [[write('y.txt', 'y\n')], [finish('Did it.')]];
  const task = await mona.json('task', 'create', 'Again', '--agent', 'Developer', '--start');
  const watching = mona.begin(['task', 'watch', task.id, '--json']);
  await until('it to begin', async () => watching.stdout() !== '');
  await world.service.stop();
  await world.restart();
  go();
  const { code, stdout } = await watching.ended;
  expect([code, linesOf(stdout).at(-1)]).toEqual([0, expect.objectContaining({ type: 'task' })]);
  const ids = linesOf(stdout)
    .filter((line) => line.type === 'event')
    .map((line) => line.event.id);
  expect(new Set(ids).size).toBe(ids.length);
});
