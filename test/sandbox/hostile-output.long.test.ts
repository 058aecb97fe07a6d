import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cappedOutput } from '../../src/sandbox/command-host.ts';
import { hostClient } from '../../src/sandbox/open-tools.ts';
import type { Confinement, ToolHost } from '../../src/sandbox/sandbox.ts';
import { openSandbox } from '../../src/sandbox/self-test.ts';

const root = mkdtempSync(join(tmpdir(), 'deckhand-output-'));
chmodSync(root, 0o755);
const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
const sandbox = await openSandbox({ setting: 'auto', toolsDir: join(root, 'tools'), limits });

let confinement: Confinement;
let host: ToolHost;
beforeAll(async () => {
  const [work, git] = [join(root, 'work'), join(root, 'git')];
  for (const folder of [work, git]) mkdirSync(folder);
  confinement = await sandbox.confine(new AbortController().signal);
  host = await confinement.open(work, git);
});
afterAll(async () => {
  await host.close();
  await confinement.close();
  rmSync(root, { recursive: true, force: true });
});

test('the output of a command is read at a limited rate, so that the service stays responsive', async () => {
  if (!sandbox.state.works) return;
  const began = performance.now();
  const { text } = await host.call('run_command', { command: 'cat /dev/urandom', timeoutSeconds: 2 });
  const seconds = (performance.now() - began) / 1000;
  const bytes = Number(/\[… cut; (\d+) bytes in all …\]/.exec(text)?.[1]);
  // A megabyte, a pause of a tenth of a second, and so on.
  expect(bytes).toBeGreaterThan(30_000);
  expect(bytes).toBeLessThan((seconds * 10 + 2) * 1_100_000);
});

test.each([
  ['nothing', []],
  ['a few words', ['one ', 'two\n']],
  ['a character in two pieces', [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)]],
  ['all that is shown of it', ['a'.repeat(14_000), 'b'.repeat(16_000)]],
])('%s is shown unchanged', (_what, chunks) => {
  const output = cappedOutput();
  for (const chunk of chunks) output.add(Buffer.from(chunk));
  expect(output.text()).toBe(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString('utf8'));
});

test.each([1, 1000, 65_536, 1_000_000])('of a long output the start and the end are shown, in chunks of %d', (size) => {
  const whole = Buffer.from(`${'é'.repeat(10_000)}${'-'.repeat(150_000)}${'ü'.repeat(10_000)}`);
  const output = cappedOutput();
  for (let at = 0; at < whole.length; at += size) output.add(whole.subarray(at, at + size));
  const [head, tail] = ['é'.repeat(10_000) + '-'.repeat(5000), '-'.repeat(5000) + 'ü'.repeat(10_000)];
  expect(output.text()).toBe(`${head}\n[… cut; ${whole.length} bytes in all …]\n${tail}`);
});

/** Starts a tool host that runs an attacker's program. */
function subverted(program: string) {
  const child = spawn(process.execPath, ['-e', program], { stdio: 'pipe' });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  return { client: hostClient(child), gone };
}

test.each([
  ['a line without end', 'process.stdout.write("x".repeat(1e6)); setInterval(() => {}, 1e6)'],
  [
    'a longer response than any tool sends',
    'process.stdin.on("data", () => process.stdout.write(JSON.stringify({ id: 1, ok: true, text: "x".repeat(200000) }) + "\\n"))',
  ],
  [
    'answers to nothing',
    'setInterval(() => process.stdout.write(JSON.stringify({ id: 7, ok: true, text: "" }) + "\\n"))',
  ],
  ['no JSON', 'console.log("{".repeat(10000)); setInterval(() => {}, 1e6)'],
])("a tool host under an attacker's control is ended: %s", async (_what, program) => {
  const { client, gone } = subverted(program);
  await expect(client.call('read_file', { path: 'x' })).rejects.toMatchObject({ failure: { category: 'sandbox' } });
  await gone;
});

test('a search is limited in memory and time, whatever its pattern', async () => {
  await host.call('write_file', { path: 'a.txt', content: 'aaaa\n' });
  const { ok, text } = await host.call('search', { pattern: '((a{1,200}){1,200}){1,50}', regex: true });
  expect([ok, text]).toEqual([
    false,
    expect.stringMatching(/^search failed: [\s\S]*(Memory exhausted|size limit)|search took over 20 s/),
  ]);
});

test('an edit that would make a file too large to read is refused', async () => {
  await host.call('write_file', { path: 'b.txt', content: 'b'.repeat(2000) });
  const edit = { path: 'b.txt', old: 'b', new: 'c'.repeat(2000), replaceAll: true };
  const { ok, text } = await host.call('edit_file', edit);
  expect([ok, text]).toEqual([false, 'b.txt would have 4000000 characters, more than 2000000']);
});

test('an error that quotes a long argument is truncated', async () => {
  const { ok, text } = await host.call('read_file', { path: '\n'.repeat(100_000) });
  expect([ok, text.length < 31_000]).toEqual([false, true]);
});
