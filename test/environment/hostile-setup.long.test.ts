import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withOutput } from '../../src/domain/run.ts';
import { folderOfResults } from '../../src/environment/keep/unpacked.ts';
import { openLiveLog, runCommands } from '../../src/environment/run-commands.ts';
import { saidOf } from '../../src/environment/set-up.ts';
import { untilNoneHas } from '../support/machine/processes.ts';
import { failsWith, openStage, type Scene, type Stage } from './stage.ts';

// Set-ups that misbehave. Each ends with a clear message, nothing of it is kept, and an honest one beside it succeeds.

let stage: Stage;
let scene: Scene;
beforeAll(async () => {
  stage = await openStage({ MAX_RUN_DISK_MB: '64', MAX_RUN_MEMORY_MB: '256', MAX_RUN_PROCESSES: '100' });
});
afterAll(() => stage.close());
beforeEach(async () => {
  scene = await stage.begin();
});
afterEach(() => scene.end());

/** A number that occurs in no other process's arguments on this machine. */
const mark = `8${process.pid}`;

/** What is in the worker's folder, without the results that it keeps unpacked. */
const foldersOfRuns = () =>
  readdirSync(stage.app.workDir)
    .filter((name) => name !== folderOfResults)
    .sort();

test.each([
  [
    'fills the disk',
    'mkdir deps; for i in 1 2 3 4; do head -c 20000000 /dev/zero > deps/$i; done',
    /^the run used more than 64 MB of disk \(MAX_RUN_DISK_MB\)$/,
  ],
  ['forks forever', 'b() { b | b & }; b', /^the run had more than 100 processes and threads \(MAX_RUN_PROCESSES\)$/],
  [
    'takes all memory',
    `for i in 1 2 3 4; do perl -e '$x = "x" x 80_000_000; sleep ${mark}' & done`,
    /^the run used more than 256 MB of memory \(MAX_RUN_MEMORY_MB\)$/,
  ],
])('a set-up that %s ends with the limit, and the one beside it does not notice', async (_what, command, message) => {
  const [before, folders] = [stage.kept(), foldersOfRuns()];
  const [hostile, honest] = await Promise.allSettled([
    scene.prepare({ setup: [`${command}; sleep ${mark}`] }),
    scene.prepare({ setup: ['mkdir deps && sleep 1 && echo whole > deps/x'] }),
  ]);
  expect(hostile).toMatchObject({ status: 'rejected', reason: failsWith(message, 'sandbox') });
  expect(honest).toMatchObject({ status: 'fulfilled', value: { how: 'set up' } });
  // The archive of the honest one, and what is known about it.
  expect(stage.kept()).toBe(before + 2);
  if (honest.status === 'fulfilled') await honest.value.remove();
  expect(foldersOfRuns()).toEqual(folders);
  await untilNoneHas(mark);
});

test('a set-up that hangs is stopped, with its output', async () => {
  const fresh = await scene.fresh(await scene.prepare({}));
  const hang = `trap "" TERM INT; echo waiting; while :; do sleep ${mark}; done`;
  // Enough for its output, also on a busy machine.
  const how = { seconds: 5, signal: fresh.signal, goesOn: false, secrets: [] };
  const results = await runCommands(scene.context({}), fresh.machine, [hang, 'echo never'], how);
  expect(results).toEqual([{ command: hang, exitCode: null, seconds: expect.any(Number), output: 'waiting\n' }]);
  expect(results.map((result) => withOutput(saidOf(result)))).toEqual([
    `set-up failed: "${hang}" was stopped; set-up may take 20 minutes in all\nwaiting`,
  ]);
  expect(scene.log.at(-1)).toMatch(/: stopped after 5 s, \d+ s$/);
  await untilNoneHas(mark);
});

test.each([
  ['', {}],
  [', also when it had a secret', { secrets: ['NPM_TOKEN'] }],
])('a set-up that nests its folders too deeply fails with the reason, and nothing is kept%s', async (_what, more) => {
  await scene.setSecret('NPM_TOKEN', 'canary of the set-up');
  const [before, folders] = [stage.kept(), foldersOfRuns()];
  const nest = 'mkdir deps && cd deps && for i in $(seq 50); do mkdir $(printf %0100d $i) && cd -P 0* || exit; done';
  await expect(scene.prepare({ setup: [nest], ...more })).rejects.toMatchObject(
    failsWith(
      /^(what set-up made could not be (un)?packed: )?set-up made a path that is longer than the system allows/,
    ),
  );
  expect(stage.kept()).toBe(before);
  expect(foldersOfRuns()).toEqual(folders);
});

test('a set-up that floods the log fills neither the log nor the memory', async () => {
  const began = performance.now();
  const { commands } = await scene.prepare({ setup: ['yes floods | head -c 5000002; echo the end'] });
  expect(commands[0]?.output).toMatch(/\nfloods\nthe end\n$/);
  expect(commands[0]?.output.length).toBeLessThanOrEqual(6000);
  // A line of 2,000 characters a second, and a few about the command.
  expect(scene.log.length).toBeLessThan(10 + (performance.now() - began) / 1000);
  expect(Math.max(...scene.log.map((line) => line.length))).toBeLessThan(2100);
});

test('the live log of a flood ends with a note', async () => {
  const lines: string[] = [];
  const log = openLiveLog(async (_type, text) => void lines.push(text), ['a secret value']);
  for (let i = 0; i < 400; i++) {
    log.hear(`${'x'.repeat(100_000)}\n`);
    await log.flush();
  }
  expect(lines).toHaveLength(301);
  expect(lines.at(-1)).toBe('[further output is not shown here]');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(2000);
});

/** Moves a folder of the service to a disk of 40 MB. Returns undefined, and says why, where none can be mounted. */
function moveToSmallDisk(which: 'workDir' | 'keptDir'): { back(): void } | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-disk-'));
  const args = ['-t', 'tmpfs', '-o', 'size=40m,mode=711', 'tmpfs', folder];
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) {
    rmSync(folder, { recursive: true });
    return void console.warn(`skipped: no small disk can be mounted here (${stderr.trim()})`);
  }
  const usual = stage.app[which];
  stage.app[which] = folder;
  return {
    back: () => {
      stage.app[which] = usual;
      spawnSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

const noise = (mb: number) => ({ setup: [`mkdir deps && head -c ${mb}000000 /dev/urandom > deps/noise`] });
const full = "the worker's disk is full; free some space there or lower ENVIRONMENT_CACHE_GB";

test('when the disk of the workspaces is full, the message says so, and nothing is lost or kept partially', async () => {
  const before = stage.kept();
  for (const [how, problem] of [
    ['set up', 'what set-up made could not be packed'],
    ['restored', 'the kept environment could not be unpacked'],
  ]) {
    const small = moveToSmallDisk('workDir');
    if (small === undefined) return;
    try {
      await expect(scene.prepare(noise(25))).rejects.toMatchObject(failsWith(new RegExp(`^${problem}: ${full}$`)));
      expect(foldersOfRuns()).toEqual([]);
    } finally {
      small.back();
    }
    expect(stage.kept()).toBe(how === 'set up' ? before : before + 2);
    expect((await scene.prepare(noise(25))).how).toBe(how);
  }
});

test('when the disk of kept results is full, the run continues, and nothing is kept partially', async () => {
  const small = moveToSmallDisk('keptDir');
  if (small === undefined) return;
  try {
    const environment = await scene.prepare(noise(50));
    expect([environment.how, stage.kept()]).toEqual(['set up', 0]);
    expect(scene.log.at(-1)).toMatch(/^setup: the environment could not be kept: ENOSPC/);
    // The workspace of the agent, and a place for checks.
    for (let i = 0; i < 2; i++) expect(readdirSync(join(await scene.placed(environment), 'deps'))).toEqual(['noise']);
  } finally {
    small.back();
  }
});

test('a set-up with a secret that leaves files full of holes fails with the reason', async () => {
  await scene.setSecret('NPM_TOKEN', 'canary of the set-up');
  const before = stage.kept();
  const holes = 'mkdir deps && for i in 1 2 3; do truncate -s 30M deps/$i; done';
  await expect(scene.prepare({ setup: [holes], secrets: ['NPM_TOKEN'] })).rejects.toMatchObject({
    failure: {
      ...failsWith(/is more than 64 MB long\. Holes in files count/).failure,
      output: expect.stringMatching(/^The limit was reached at deps\/[123]$/),
    },
  });
  expect(stage.kept()).toBe(before);
});
