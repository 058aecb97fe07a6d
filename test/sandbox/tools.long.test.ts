import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../demo/real-service.ts';
import type { Confinement, Sandbox, ToolHost } from '../../src/sandbox/sandbox.ts';
import { openSandbox } from '../../src/sandbox/self-test.ts';
import { gitOut } from '../support/git.ts';
import { commandsIn } from '../support/machine/processes.ts';

const root = mkdtempSync(join(tmpdir(), 'deckhand-sandbox-'));
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const limits = { memoryMb: 4096, diskMb: 10_240, processes: 1024 };
const bubblewrap = await openSandbox({ setting: 'auto', toolsDir: join(root, 'tools'), limits });
const open = await openSandbox({ setting: 'off', toolsDir: join(root, 'tools'), limits });
const walls: [string, Sandbox][] = [['file tools without bubblewrap', open]];
if (bubblewrap.state.works) walls.push(['bubblewrap', bubblewrap]);
else console.warn(`not tested behind bubblewrap: ${bubblewrap.state.says}`);

test('bubblewrap works if .ci/run has installed it', () => {
  if (process.env.CI) expect(bubblewrap.state).toMatchObject({ works: true });
});

/** Without the watchdog's `nice` and `du`. */
const processesIn = (folder: string) => commandsIn(folder).filter((command) => !/^(nice|du)\0/.test(command));

describe.each(walls)('%s', (_name, sandbox) => {
  let confinement: Confinement;
  let host: ToolHost;
  let work: string;
  let n = 0;
  beforeEach(async () => {
    const folder = join(root, `w${n++}-${sandbox.state.works}`);
    work = join(folder, 'work');
    mkdirSync(join(work, 'src'), { recursive: true });
    mkdirSync(join(folder, 'git'));
    writeFileSync(join(folder, 'outside.txt'), 'secret');
    writeFileSync(join(work, 'a.txt'), 'one\ntwo\ntwo\n');
    writeFileSync(join(work, 'src/b.js'), 'let needle;\n');
    symlinkSync('/etc/passwd', join(work, 'etc'));
    symlinkSync('../outside.txt', join(work, 'out'));
    symlinkSync('../..', join(work, 'src/up'));
    symlinkSync('a.txt', join(work, 'in'));
    confinement = await sandbox.confine(new AbortController().signal);
    await confinement.own(work);
    host = await confinement.open(work, join(folder, 'git'));
  });
  afterEach(async () => {
    await host.close();
    await confinement.close();
  });

  test.each([
    ['line endings', 'a();\r\nb();\r\nc();\r\n', 'b();\nc();', 'x();\ny();', 'a();\r\nx();\r\ny();\r\n', / {5}2\tx/],
    ['mixed line endings', 'a();\r\nb();\r\nc();\n', 'a();\nb();', 'x();', 'x();\r\nc();\n', /line ending/],
    ['trailing blanks', 'a();  \nb();\t\n', 'a();\nb();', 'x();', 'x();\n', /trailing whitespace/],
    [
      'indentation',
      'if (x) {\n    a();\n    b();\n}\n',
      '  a();\n  b();',
      '  a(1);\n    b(2);',
      'if (x) {\n    a(1);\n      b(2);\n}\n',
      /indentation/,
    ],
  ])('edit_file tolerates %s where one place matches, and reports it', async (_what, before, old, replacement, after, said) => {
    await host.call('write_file', { path: 'e.js', content: before });
    const answer = await host.call('edit_file', { path: 'e.js', old, new: replacement });
    expect(answer).toEqual({ ok: true, text: expect.stringMatching(said) });
    expect(readFileSync(join(work, 'e.js'), 'utf8')).toBe(after);
  });

  test('edit_file changes nothing when several places or none match loosely', async () => {
    await host.call('write_file', { path: 'e.js', content: '  a();\n\ta();\n' });
    for (const old of ['    a();', 'b();', '\n\n', ' ']) {
      const { ok, text } = await host.call('edit_file', { path: 'e.js', old: old === ' ' ? '     ' : old, new: 'x' });
      expect([old, ok, text]).toEqual([old, false, expect.stringMatching(/occur/)]);
    }
    expect(readFileSync(join(work, 'e.js'), 'utf8')).toBe('  a();\n\ta();\n');
  });

  test('reads, lists, searches, writes, edits and deletes', async () => {
    expect(await host.call('read_file', { path: 'a.txt', startLine: 2, endLine: 2 })).toEqual({
      ok: true,
      text: '     2\ttwo\n[lines 2 to 2 of 3]',
    });
    expect((await host.call('read_file', { path: 'in' })).text).toBe('     1\tone\n     2\ttwo\n     3\ttwo');
    expect((await host.call('read_text', { path: 'in' })).text).toBe('one\ntwo\ntwo\n');
    expect((await host.call('list_files', {})).text).toContain('src/b.js');
    expect((await host.call('search', { pattern: 'need.e', regex: true })).text).toBe('src/b.js\n     1\tlet needle;');
    expect((await host.call('search', { pattern: 'need.*e' })).text).toMatch(/^\[no line contains .*:\]\nsrc\/b.js/);
    expect((await host.call('search', { pattern: 'nothing' })).text).toBe('no match');
    expect((await host.call('write_file', { path: 'new/deep/c.txt', content: 'x' })).ok).toBe(true);
    expect(readFileSync(join(work, 'new/deep/c.txt'), 'utf8')).toBe('x');
    expect(await host.call('edit_file', { path: 'a.txt', old: 'two', new: '2' })).toMatchObject({
      ok: false,
      text: expect.stringContaining('2 times'),
    });
    expect((await host.call('edit_file', { path: 'a.txt', old: 'two', new: '2', replaceAll: true })).ok).toBe(true);
    expect(readFileSync(join(work, 'a.txt'), 'utf8')).toBe('one\n2\n2\n');
    expect((await host.call('edit_file', { path: 'a.txt', old: 'nine', new: '9' })).ok).toBe(false);
    expect((await host.call('delete_file', { path: 'out' })).ok).toBe(true);
    expect(existsSync(join(work, '../outside.txt'))).toBe(true);
  });

  test.each([
    '../outside.txt',
    '/etc/passwd',
    'etc',
    'out',
    'src/up/outside.txt',
    'src/../../outside.txt',
    '.git/config',
    '.GIT/config',
    'a\0b',
  ])('%j cannot be accessed', async (path) => {
    for (const [tool, more] of [
      ['read_file', {}],
      ['write_file', { content: 'x' }],
      ['edit_file', { old: 's', new: 't' }],
      ['list_files', {}],
    ] as const) {
      const answer = await host.call(tool, { path, ...more });
      expect([tool, answer.ok]).toEqual([tool, false]);
      expect(answer.text).not.toMatch(/secret|root:/);
    }
    expect(readFileSync(join(work, '../outside.txt'), 'utf8')).toBe('secret');
  });

  test('the files of a workspace are restored', async () => {
    await host.restore([
      { path: 'a.txt', mode: '000000', content: null },
      { path: 'x/run.sh', mode: '100755', content: Buffer.from('#!/bin/sh\n').toString('base64') },
      { path: 'l', mode: '120000', content: Buffer.from('x/run.sh').toString('base64') },
    ]);
    expect(existsSync(join(work, 'a.txt'))).toBe(false);
    expect(readFileSync(join(work, 'l'), 'utf8')).toBe('#!/bin/sh\n');
  });

  test('commands run in a sandbox or not at all', async () => {
    const run = (command: string, timeoutSeconds = 120) => host.call('run_command', { command, timeoutSeconds });
    if (!sandbox.state.works) {
      expect(await run('id')).toMatchObject({ ok: false, text: expect.stringContaining('sandbox') });
      return;
    }
    expect((await run('id -u; pwd; echo hi > made.txt; exit 3')).text).toMatch(
      /^\[exit code 3\] after [\d.]+ s\n1000\n\/work\n$/,
    );
    expect(readFileSync(join(work, 'made.txt'), 'utf8')).toBe('hi\n');
    expect((await run('cat /etc/shadow /root/.npmrc ../outside.txt out')).text).not.toContain('secret');
    expect((await run('cat /proc/1/environ /proc/self/environ | tr "\\0" "\\n"')).text).not.toMatch(
      /JWT|TOKEN|TEST_POSTGRES/,
    );
    expect((await run('cat /proc/net/dev | grep -v lo: | wc -l; (echo > /dev/tcp/127.0.0.1/1) 2>&1')).text).toMatch(
      /s\n2\n/,
    );
    expect((await run('touch /usr/x /x 2>&1; ls -d /x /usr/x')).text).not.toMatch(/^\/x$|^\/usr\/x$/m);
    expect((await run('sleep 60', 1)).text).toContain('[stopped after 1 s]');
    await run('setsid sleep 61 & sleep 62 & disown');
    expect((await run('ps -e -o args | grep -c "[s]leep 6"')).text).toMatch(/s\n0\n/);
    expect((await run('head -c 3000000 /dev/zero | tr "\\0" x')).text.length).toBeLessThan(40_000);
  });

  test('git works in the workspace, and files in /tmp are kept between commands', async () => {
    if (!sandbox.state.works) return;
    gitOut(join(work, '../git'), 'init', '-q', '--bare', '.');
    gitOut(join(work, '../git'), 'config', 'core.bare', 'false');
    const status = await host.call('run_command', { command: 'git status --short | head -3; echo kept > /tmp/x' });
    expect(status.text).toContain('?? a.txt');
    expect((await host.call('run_command', { command: 'cat /tmp/x; id -un' })).text).toMatch(/s\nkept\nagent\n$/);
  });

  test('long commands and commands with unusual bytes get a result; a pipe is not written to', async () => {
    execFileSync('mkfifo', ['-m', '666', join(work, 'pipe')]);
    for (const tool of ['read_file', 'write_file'])
      expect(await host.call(tool, { path: 'pipe', content: 'x' })).toMatchObject({ ok: false });
    if (!sandbox.state.works) return;
    expect((await host.call('run_command', { command: `: ${'x'.repeat(200_000)}\necho done` })).text).toMatch(
      /^\[exit code 0\] after [\d.]+ s\ndone\n$/,
    );
    expect((await host.call('run_command', { command: 'echo a\0b' })).text).toMatch(/^\[exit code \d+\]/);
  });

  test('no command can reach the tool host or a later command', async () => {
    if (!sandbox.state.works) return;
    const spy =
      'ls /proc | grep -c "^[0-9]"; for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline; done | grep -c "^/opt/node/bin/node"';
    expect((await host.call('run_command', { command: spy })).text).toMatch(/s\n[1-9]\n0\n/);
  });

  test('restoring replaces links, folders and files in its way, and changes nothing else', async () => {
    const b64 = (text: string) => Buffer.from(text).toString('base64');
    await host.restore([
      { path: 'in', mode: '100644', content: b64('plain') },
      { path: 'out', mode: '000000', content: null },
      { path: 'src', mode: '100644', content: b64('a file now') },
      { path: 'src/b.js', mode: '000000', content: null },
      { path: 'etc', mode: '100644', content: b64('x') },
    ]);
    expect(readFileSync(join(work, 'in'), 'utf8')).toBe('plain');
    expect(readFileSync(join(work, 'a.txt'), 'utf8')).toBe('one\ntwo\ntwo\n');
    expect(readFileSync(join(work, '../outside.txt'), 'utf8')).toBe('secret');
    expect(readFileSync(join(work, 'src'), 'utf8')).toBe('a file now');
  });

  test('tools that are closed while they start leave nothing behind and do not hang', async () => {
    await host.close();
    for (let ms = 0; ms < 40; ms += 2) {
      const other = await confinement.open(work, join(work, '../git'));
      await new Promise((resolve) => setTimeout(resolve, ms));
      await other.close();
      await until('its processes to end', async () => processesIn(work).length === 0);
    }
  });

  test('a call in progress when the run ends fails with the reason of that end', async () => {
    const time = new AbortController();
    const timed = await sandbox.confine(time.signal);
    const other = await timed.open(work, join(work, '../git'));
    const call = other.call('search', { pattern: 'x' });
    time.abort(new DOMException('over', 'TimeoutError'));
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    await other.close();
    await timed.close();
  });

  test('when the tool host ends, the call fails and closing leaves no process', async () => {
    const call = host.call('search', { pattern: 'x' });
    await host.close();
    await expect(Promise.all([call, host.call('read_file', { path: 'a.txt' })])).rejects.toMatchObject({
      failure: { category: 'sandbox' },
    });
  });
});
