import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Said } from '../../../src/demo/model/model.ts';
import { issue, script as story } from '../../../src/demo/model/story.ts';
import { type RunningService, startService, until } from '../../../src/demo/real-service.ts';
import { gitOut } from '../../support/git.ts';
import { openSeparateWorld, openWorld, type SeparateWorld, type World } from '../../support/world.ts';

/** What the model plays, how often it was asked, and the turn before which it waits for `release`. */
const model = { script: [] as Said[], asked: 0, heldTurn: 0, held: Promise.resolve(), release: () => {} };

/** The world of the tests that hold their model. */
let world: SeparateWorld;
beforeAll(async () => {
  world = await openSeparateWorld(
    (_request, turn) => model.script[Math.min(turn, model.script.length - 1)] ?? 'Done.',
    {
      before: async (turn) => {
        model.asked += 1;
        if (turn === model.heldTurn) await model.held;
      },
    },
  );
});

/** Makes the model play a script from now on, and wait before one of its turns. */
function hold(script: Said[], heldTurn: number): void {
  Object.assign(model, { script, asked: 0, heldTurn });
  model.held = new Promise<void>((resolve) => {
    model.release = resolve;
  });
}

/** Worlds of single tests, which need other settings. */
const others: World[] = [];
afterEach(async () => {
  for (const other of others.splice(0)) await other.close();
});

const workers: RunningService[] = [];
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop('SIGKILL')));
  await world.close();
});

test('the next process finishes a run that was killed during a conversation: one branch, one pull request', async () => {
  hold(story as Said[], 3);
  const number = await world.issue('/agent start', issue);
  await until('the third turn', async () => model.asked === 4);
  await world.kill();
  model.release();
  await world.restart();
  const task = await world.taskIn('in_review');
  expect(task).toMatchObject({ runCount: 1, failure: null });
  const pulls = await world.github.as('mona')<unknown[]>('GET', '/repos/mona/sample/pulls?state=all');
  expect(pulls).toHaveLength(1);
  const bare = world.github.folderOf('mona/sample');
  expect(gitOut(bare, 'for-each-ref', '--format=%(refname:short)').split('\n')).toEqual([task.branchName, 'main']);
  // The commit contains the work of the turns before the kill, and the model was not asked for them again.
  expect(gitOut(bare, 'diff', '--numstat', `main...${task.branchName}`)).toBe(
    '2\t0\tsrc/slugify.js\n4\t0\ttest/slugify.test.js',
  );
  expect(model.asked).toBe(4 + 3);
  const { handoffs } = await world.get<{ handoffs: unknown[] }>(`/tasks/${task.id}/handoffs`);
  expect(handoffs).toHaveLength(1);
  await until('one label', async () => (await world.labels(number)).join() === 'agent:in-review');
  expect((await world.comments(number)).filter((c) => c.user.login === 'deckhand[bot]')).toHaveLength(1);
});

test('files that replaced links and folders are restored as they were, and nothing else', async () => {
  const change =
    'ln -s README.md link && rm -rf src && echo file > src && mkdir -p a/b && ln -s ../../package.json a/b/up';
  const later = 'rm link && echo plain > link';
  const command = (text: string) => [{ name: 'run_command', arguments: { command: text } }];
  const finish = [{ name: 'finish', arguments: { summary: 'Moved.', nextSteps: [] } }];
  hold([command(change), command(later), finish], 2);
  await world.issue('/agent start');
  await until('the second turn', async () => model.asked === 3);
  await world.kill();
  model.release();
  await world.restart();
  const { branchName } = await world.taskIn('in_review');
  const bare = world.github.folderOf('mona/sample');
  expect(gitOut(bare, 'diff', '--name-status', '--no-renames', `main...${branchName}`)).toBe(
    'A\ta/b/up\nA\tlink\nA\tsrc\nD\tsrc/slugify.js',
  );
  expect(gitOut(bare, 'show', `${branchName}:link`)).toBe('plain');
  expect(gitOut(bare, 'show', `${branchName}:README.md`)).toBe(gitOut(bare, 'show', 'main:README.md'));
});

test('a process that is asked to stop during a run hands the run over and exits with 0', async () => {
  hold(story as Said[], 2);
  await world.issue('/agent start', issue);
  await until('the second turn', async () => model.asked === 3);
  await world.service.stop('SIGTERM');
  expect(world.service.process.exitCode).toBe(0);
  model.release();
  await world.restart();
  expect(await world.taskIn('in_review')).toMatchObject({ runCount: 1, failure: null });
});

test('a suspended worker that resumes after its run was taken over writes nothing more', async () => {
  await world.service.stop();
  Object.assign(world.settings, { ROLE: 'web', RUN_LEASE_SECONDS: '2' });
  await world.restart();
  const startWorker = async (name: string) => {
    const own = { ROLE: 'worker', DATA_DIR: `${world.settings.DATA_DIR}/${name}` };
    const worker = await startService({ ...world.settings, ...own });
    workers.push(worker);
    return worker;
  };
  const first = await startWorker('first');
  hold(story as Said[], 2);
  const pushesBefore = world.github.pushes.length;
  const number = await world.issue('/agent start', issue);
  await until('the second turn', async () => model.asked === 3);
  first.process.kill('SIGSTOP');
  await startWorker('second');
  // When the first worker's lease has expired, the second worker requests the same turn from the model.
  await until('the second worker', async () => model.asked === 4);
  model.release();
  const task = await world.taskIn('in_review');
  const pulls = () => world.github.as('mona')<{ head: { ref: string } }[]>('GET', '/repos/mona/sample/pulls?state=all');
  const state = async () => ({
    pushes: world.github.pushes.length - pushesBefore,
    head: gitOut(world.github.folderOf('mona/sample'), 'rev-parse', task.branchName ?? ''),
    pulls: (await pulls()).filter((pull) => pull.head.ref === task.branchName).length,
    comments: (await world.comments(number)).length,
    handoffs: (await world.get<{ handoffs: unknown[] }>(`/tasks/${task.id}/handoffs`)).handoffs.length,
    runs: await world.get(`/tasks/${task.id}/runs`),
    asked: model.asked,
  });
  await until('one label', async () => (await world.labels(number)).join() === 'agent:in-review');
  const before = await state();
  expect(before).toMatchObject({ pushes: 1, pulls: 1, handoffs: 1 });
  first.process.kill('SIGCONT');
  await until('the first worker to notice', async () =>
    first.log().includes('run left to the worker that holds it now'),
  );
  expect(await state()).toEqual(before);
});

test('a run that an attempt could not continue is tried again after a pause', async () => {
  let isRefused = false;
  const refusing = await openWorld([[{ name: 'finish', arguments: { summary: 'Nothing to do.', nextSteps: [] } }]], {
    onCommit: (statements) => {
      if (isRefused || !statements.some((text) => /into run_steps/.test(text))) return undefined;
      isRefused = true;
      return 'refused';
    },
    settings: { SANDBOX: 'off' },
  });
  others.push(refusing);
  await refusing.issue('/agent start');
  const task = await refusing.taskIn('done');
  const [run] = await refusing.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const log = (await refusing.get<{ text: string }[]>(`/runs/${run?.id}/events`)).map((event) => event.text);
  expect(log.filter((text) => /^the database cannot/.test(text))).toEqual([
    'the database cannot be reached, or cannot write; trying again in 1 s',
  ]);
  expect(log.some((text) => /^continued after \d+ s$/.test(text))).toBe(true);
});

/** Mounts a small disk; returns undefined if this process is not permitted to. */
function mountDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-disk-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=755', 'tmpfs', folder]).status === 0) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}

const disk = mountDisk();
afterAll(() => {
  if (disk === undefined) return;
  spawnSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true });
});

if (disk === undefined) process.stdout.write('skipped: the test of a full disk needs the right to mount one\n');

(disk === undefined ? test.skip : test)('no run starts on a full disk; it starts once there is room', async () => {
  const script = [[{ name: 'finish', arguments: { summary: 'Nothing to do.', nextSteps: [] } }]];
  const full = await openWorld(script, { settings: { DATA_DIR: disk ?? '', SANDBOX: 'off' } });
  others.push(full);
  const filler = join(disk ?? '', 'filler');
  // No more than the disk holds: if this test exceeds its limit, the disk is unmounted, and the folder is on the real one.
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k', 'count=4800']);
  await full.issue('/agent start');
  const { id } = await full.task();
  const runs = () => full.get<{ status: string }[]>(`/tasks/${id}/runs`);
  await until('the run', async () => (await runs()).length > 0);
  // The same worker handles the command of a later issue, after it was woken for the run.
  const later = await full.issue('/agent create', { title: 'Later' });
  await until('the later task', async () => (await full.labels(later)).includes('agent:backlog'));
  expect([await runs(), full.model.requests.length]).toEqual([[expect.objectContaining({ status: 'queued' })], 0]);
  expect(full.service.log()).toContain('free some space there');
  rmSync(filler);
  await until('the end of the run', async () => (await runs())[0]?.status === 'succeeded');
});
