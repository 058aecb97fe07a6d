import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService, until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { startServiceHere } from '../../support/http/service-here.ts';
import { openWorld, type World } from '../../support/world.ts';

/** How often the model was asked. It waits before its third answer. */
let asked = 0;
const held = Promise.withResolvers<void>();

/** The world of the current test, and what ends its other processes. */
const others: World[] = [];
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  for (const other of others.splice(0)) await other.close();
});

test('a suspended worker that resumes after its run was taken over writes only what its last answer cost', async () => {
  const script = [
    [write('one.txt', 'x\n')],
    [write('two.txt', 'x\n')],
    [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }],
  ];
  const world = await openWorld(script, {
    before: async (turn) => {
      asked += 1;
      if (turn === 2) await held.promise;
    },
    settings: { SANDBOX: 'off' },
  });
  others.push(world);
  await world.service.stop();
  Object.assign(world.settings, { ROLE: 'web', RUN_LEASE_SECONDS: '2' });
  await world.restart();
  const ofWorker = (name: string) => ({
    ...world.settings,
    ROLE: 'worker',
    DATA_DIR: join(world.settings.DATA_DIR ?? '', name),
  });
  const first = await startService(ofWorker('first'));
  ends.push(() => first.stop('SIGKILL'));
  const number = await world.issue('/agent start');
  await until('the second turn', async () => asked === 3);
  first.process.kill('SIGSTOP');
  const second = await startServiceHere(ofWorker('second'));
  ends.push(() => second.stop());
  // When the first worker's lease has expired, the second worker requests the same turn from the model.
  await until('the second worker', async () => asked === 4);
  held.resolve();
  const task = await world.taskIn('in_review');
  const pulls = () => world.github.as('mona')<{ head: { ref: string } }[]>('GET', '/repos/mona/sample/pulls?state=all');
  const state = async () => ({
    pushes: world.github.pushes.length,
    head: gitOut(world.github.folderOf('mona/sample'), 'rev-parse', task.branchName ?? ''),
    pulls: (await pulls()).filter((pull) => pull.head.ref === task.branchName).length,
    comments: (await world.comments(number)).length,
    handoffs: (await world.get<{ handoffs: unknown[] }>(`/tasks/${task.id}/handoffs`)).handoffs.length,
    asked,
  });
  const runs = () => world.get<Record<string, unknown>[]>(`/tasks/${task.id}/runs`);
  await until('one label', async () => (await world.labels(number)).join() === 'agent:in-review');
  const [before, [runBefore = {}]] = [await state(), await runs()];
  expect(before).toMatchObject({ pushes: 1, pulls: 1, handoffs: 1 });
  first.process.kill('SIGCONT');
  await until('the first worker to notice', async () =>
    first.log().includes('run left to the worker that holds it now'),
  );
  expect(await state()).toEqual(before);
  const spent = expect.any(Number);
  const [runAfter = {}] = await runs();
  expect(runAfter).toEqual({ ...runBefore, inputTokens: spent, outputTokens: spent, costUsd: spent });
  // Each of the four answers has 60 tokens, also the one that two workers asked for.
  expect([runBefore.outputTokens, runAfter.outputTokens]).toEqual([240, 300]);
  await first.stop('SIGTERM');
  expect(first.process.exitCode).toBe(0);
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
