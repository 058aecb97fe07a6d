import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../demo/real-service.ts';
import type { Confinement, ToolHost } from '../../src/sandbox/sandbox.ts';
import { openSandbox } from '../../src/sandbox/self-test.ts';
import { processesWith, untilNoneHas } from '../support/machine/processes.ts';

const root = mkdtempSync(join(tmpdir(), 'deckhand-processes-'));
chmodSync(root, 0o755);
const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
const sandbox = await openSandbox({ setting: 'auto', toolsDir: join(root, 'tools'), limits });
if (!sandbox.state.works) console.warn(`skipped: ${sandbox.state.says}`);
const behindTheWall = sandbox.state.works ? test : test.skip;

let confinement: Confinement;
let host: ToolHost;
let run: AbortController;
let n = 0;
beforeEach(async () => {
  n += 1;
  const [work, git] = [join(root, `work${n}`), join(root, `git${n}`)];
  for (const folder of [work, git]) mkdirSync(folder);
  run = new AbortController();
  confinement = await sandbox.confine(run.signal);
  host = await confinement.open(work, git);
});
afterEach(async () => {
  await host.close();
  await confinement.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const start = (name: string, command: string) => host.call('start_process', { name, command });
const look = (name: string) => host.call('read_output', { name });
const stop = (name: string) => host.call('stop_process', { name });

/** Looks until the answer fits. Fails by the time limit of the test. */
async function seen(name: string, wanted: RegExp): Promise<string> {
  for (;;) {
    const { text } = await look(name);
    if (wanted.test(text)) return text;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

behindTheWall('a process runs on while commands come and go, until it is stopped', async () => {
  const mark = `4${process.pid}1`;
  expect(await start('watch', `echo begun; sleep ${mark}; echo over`)).toMatchObject({ ok: true });
  await seen('watch', /^\[watch: running, 0:\d\d minutes\]\nbegun\n$/);
  await host.call('run_command', { command: 'echo made > by-command.txt' });
  await until('the process', async () => processesWith(`sleep\0${mark}`).length === 1);
  expect((await stop('watch')).text).toBe('stopped watch\nbegun\n');
  await untilNoneHas(mark);
  expect(await look('watch')).toEqual({ ok: false, text: expect.stringMatching(/^there is no process watch; .*none/) });
});

behindTheWall('the other tools see what it writes into the workspace, and its output says how it ended', async () => {
  await start('build', 'echo made > by-process.txt; echo wrong >&2; exit 3');
  await seen('build', /^\[build: exit code 3, 0:\d\d minutes\]\nwrong\n$/);
  expect((await host.call('read_file', { path: 'by-process.txt' })).text).toContain('made');
  // The name of a process that has ended can be used again.
  expect((await start('build', 'echo again')).ok).toBe(true);
  await seen('build', /exit code 0[\s\S]*again/);
});

behindTheWall('of endless output the start and the end are kept', async () => {
  await start('loud', 'echo first; head -c 3000000 /dev/zero | tr "\\0" x; echo; echo last');
  const text = await seen('loud', /exit code 0/);
  expect(text).toMatch(/\]\nfirst\nx+\n\[… cut; \d+ bytes in all …\]\nx+\nlast\n$/);
  expect(text.length).toBeLessThan(17_000);
});

behindTheWall('names are unique, and at most eight run at the same time', async () => {
  for (let i = 0; i < 8; i++) expect((await start(`p${i}`, 'echo on; sleep 1000')).ok).toBe(true);
  expect((await start('p1', 'true')).text).toMatch(/p1 is running; stop it first/);
  expect((await start('p8', 'true')).text).toMatch(/at most 8 .* stop one of p0, p1/);
  await stop('p3');
  expect((await start('p8', 'echo on; sleep 1000')).ok).toBe(true);
});

behindTheWall.each(['closing the tools', 'the end of the run'])('%s ends all processes', async (what) => {
  const mark = `5${process.pid}${n}`;
  await start('a', `sleep ${mark}`);
  await start('b', `setsid sleep ${mark} & sleep ${mark}`);
  if (what === 'the end of the run') run.abort(new Error('over'));
  await host.close();
  await untilNoneHas(mark);
  if (what === 'the end of the run') await expect(start('c', 'true')).rejects.toThrow('over');
  else expect(await start('c', 'true')).toMatchObject({ ok: false });
});

behindTheWall('ending the processes leaves none, and commands work afterwards as before', async () => {
  const mark = `6${process.pid}${n}`;
  await host.call('run_command', { command: 'git init -q . && touch ~/kept' });
  await start('a', `setsid sleep ${mark} & echo on; sleep ${mark}`);
  await start('b', 'true');
  await seen('b', /exit code 0/);
  await seen('a', /on/);
  expect(await host.endProcesses()).toEqual(['a']);
  expect(processesWith(`sleep\0${mark}`)).toEqual([]);
  expect((await look('a')).text).toMatch(/^\[a: (ended by SIGKILL|exit code 137),/);
  expect((await host.call('run_command', { command: 'ls ~/kept' })).text).toContain('/kept');
  expect(await host.endProcesses()).toEqual([]);
});

test('without a sandbox there are no processes', async () => {
  const off = await openSandbox({ setting: 'off', toolsDir: join(root, 'tools'), limits });
  const plain = await off.confine(run.signal);
  const files = await plain.open(join(root, `work${n}`), join(root, `git${n}`));
  expect(await files.call('start_process', { name: 'a', command: 'true' })).toEqual({
    ok: false,
    text: 'start_process needs a working sandbox, which this machine does not have',
  });
  await files.close();
  await plain.close();
});
