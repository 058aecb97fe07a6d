import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { HostClient } from '../../src/sandbox/open-tools.ts';
import { toolHosts } from './tool-hosts.ts';

const hosts = toolHosts();
const { write, read } = hosts;
let work: string;
let host: HostClient;
beforeEach(() => {
  work = hosts.work();
  host = hosts.open();
});

const patch = (...lines: string[]) =>
  host.call('apply_patch', { patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });

describe('apply_patch', () => {
  test('adds, changes, moves and deletes several files, and shows the changed lines', async () => {
    write({ 'a.js': 'one\ntwo\nthree\n', 'b.js': 'b\n', 'c.js': 'c\n' });
    const { ok, text } = await patch(
      ...['*** Update File: a.js', '@@', ' one', '-two', '+TWO', '+2', ' three'],
      ...['*** Update File: b.js', '*** Move to: lib/d.js', '@@', '-b', '+d'],
      ...['*** Delete File: c.js', '*** Add File: new/e.js', '+e'],
    );
    expect([ok, text]).toEqual([
      true,
      [
        'changed a.js\n     1\tone\n     2\tTWO\n     3\t2\n     4\tthree',
        'moved b.js to lib/d.js\n     1\td',
        'deleted c.js',
        'added new/e.js\n     1\te',
      ].join('\n\n'),
    ]);
    expect([read('a.js'), read('lib/d.js'), read('new/e.js')]).toEqual(['one\nTWO\n2\nthree\n', 'd\n', 'e\n']);
    expect([existsSync(join(work, 'b.js')), existsSync(join(work, 'c.js'))]).toEqual([false, false]);
  });

  test('changes nothing when one part does not fit', async () => {
    write({ 'a.js': 'one\n', 'b.js': 'b\n' });
    const { ok } = await patch(
      '*** Update File: a.js',
      '-one',
      '+1',
      '*** Add File: n.js',
      '+n',
      '*** Delete File: x.js',
    );
    expect([ok, read('a.js'), existsSync(join(work, 'n.js'))]).toEqual([false, 'one\n', false]);
  });

  test('takes everything back when a file cannot be written', async () => {
    write({ 'a.js': 'one\n', 'b.js': 'b\n', folder: 'a file\n' });
    const { ok, text } = await patch(
      ...['*** Update File: a.js', '-one', '+1', '*** Delete File: b.js', '*** Add File: folder/n.js', '+n'],
    );
    expect([ok, text]).toEqual([false, expect.stringMatching(/^nothing was changed/)]);
    expect([read('a.js'), read('b.js'), read('folder')]).toEqual(['one\n', 'b\n', 'a file\n']);
  });

  test('keeps the mode of a file that it changes or moves', async () => {
    write({ 'run.sh': 'echo a\n' });
    chmodSync(join(work, 'run.sh'), 0o755);
    await patch('*** Update File: run.sh', '*** Move to: bin/run.sh', '-echo a', '+echo b');
    expect(statSync(join(work, 'bin/run.sh')).mode & 0o777).toBe(0o755);
  });

  test('reads several unified diffs in one patch, also of a renamed file', async () => {
    write({ 'a.js': 'one\n', 'b.js': 'two\n', 'c.js': 'three\n' });
    const diff = [
      ...['diff --git a/a.js b/a.js', '--- a/a.js', '+++ b/a.js', '@@ -1 +1 @@', '-one', '+1'],
      ...['diff --git a/b.js b/d.js', 'similarity index 100%', 'rename from b.js', 'rename to d.js'],
      ...['diff --git a/c.js b/e.js', 'rename from c.js', 'rename to e.js', '--- a/c.js', '+++ b/e.js', '@@ -1 +1 @@'],
      ...['-three', '+3', ''],
    ].join('\n');
    expect(await host.call('apply_patch', { patch: diff })).toMatchObject({ ok: true });
    expect([read('a.js'), read('d.js'), read('e.js')]).toEqual(['1\n', 'two\n', '3\n']);
  });

  test('does not follow a link out of the workspace', async () => {
    symlinkSync('/etc', join(work, 'out'));
    expect((await patch('*** Add File: out/x', '+x')).text).toMatch(/outside the workspace/);
  });
});

test.each<[string, [link: string, target: string][], string]>([
  ['that points to itself', [['loop', 'loop']], 'loop passes through a symbolic link that leads back to itself'],
  [
    'of a loop',
    [
      ['loop', 'b'],
      ['b', 'loop'],
    ],
    'loop passes through a symbolic link that leads back to itself',
  ],
  ['to nothing', [['loop', 'gone']], 'loop passes through a symbolic link whose target does not exist'],
])('a link %s is refused with what is wrong with it', async (_which, links, said) => {
  for (const [link, target] of links) symlinkSync(target, join(work, link));
  expect(await host.call('read_file', { path: 'loop' })).toEqual({ ok: false, text: said });
  const inside = await host.call('write_file', { path: 'loop/x', content: 'x' });
  expect(inside).toEqual({ ok: false, text: said.replace('loop', 'loop/x') });
});

test('a long file is shown in parts, with whole lines', async () => {
  write({ 'long.txt': Array.from({ length: 5000 }, (_, i) => `line ${i + 1}`).join('\n') });
  const { text } = await host.call('read_file', { path: 'long.txt' });
  const next = Number(/go on with startLine (\d+)\]/.exec(text)?.[1]);
  expect(text.length).toBeLessThan(30_000);
  expect(text).toContain(`\tline ${next - 1}\n[too long`);
  const rest = await host.call('read_file', { path: 'long.txt', startLine: next });
  expect(rest.text).toMatch(new RegExp(`^ *${next}\tline ${next}\n`));
});

test('a file that is not UTF-8 can be read, but an edit does not damage it', async () => {
  writeFileSync(join(work, 'latin.txt'), Buffer.from('caf\xe9\nx\n', 'latin1'));
  expect(await host.call('read_file', { path: 'latin.txt' })).toMatchObject({ ok: true });
  expect(await host.call('edit_file', { path: 'latin.txt', old: 'x', new: 'y' })).toMatchObject({ ok: false });
  expect(readFileSync(join(work, 'latin.txt'), 'latin1')).toBe('caf\xe9\nx\n');
});

const line = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b', 'c();', 'return x', '}', ''))
  .map(([depth, text]) => (text === '' ? '' : '  '.repeat(depth) + text));

test('an edit that ignores whitespace changes only the line that it means, or nothing', async () => {
  const misquotes: ((text: string) => string)[] = [
    (text) => text.replaceAll('  ', '\t'),
    (text) => text.replaceAll('  ', '    '),
    (text) => text.replace(/^ +/gm, ''),
    (text) => text.replace(/$/gm, ' '),
    (text) => text.replace(/^(?=.)/gm, '  '),
    (text) => text.replaceAll('\n', '\r\n'),
  ];
  let applied = 0;
  const cases = fc.tuple(fc.array(line, { minLength: 3, maxLength: 12 }), fc.nat(), fc.nat(), fc.nat(), fc.boolean());
  await fc.assert(
    fc.asyncProperty(cases, async ([lines, from, length, how, isCrlf]) => {
      const start = from % lines.length;
      const quoted = lines.slice(start, start + 1 + (length % 5));
      const target = quoted.findIndex((text) => text.trim() !== '');
      fc.pre(target >= 0);
      const end = isCrlf ? '\r\n' : '\n';
      const before = lines.join(end) + end;
      const changed = quoted.map((text, i) => (i === target ? text.replace(/\S.*/, 'CHANGED') : text));
      const misquote = misquotes[how % misquotes.length] as (text: string) => string;
      write({ 'f.txt': before });
      const edit = { path: 'f.txt', old: misquote(quoted.join('\n')), new: misquote(changed.join('\n')) };
      const { ok } = await host.call('edit_file', edit);
      applied += ok ? 1 : 0;
      // Misquoted like this, the text may occur exactly elsewhere. Then that place is meant.
      const isExact = `${lines.join('\n')}\n`.includes(edit.old.replaceAll('\r\n', '\n'));
      const wanted =
        lines.map((text, i) => (i === start + target ? text.replace(/\S.*/, 'CHANGED') : text)).join(end) + end;
      if (ok && !isExact) expect(read('f.txt').replaceAll(/[ \t]+(?=\r?\n)/g, '')).toBe(wanted);
      if (!ok) expect(read('f.txt')).toBe(before);
    }),
    { numRuns: 150 },
  );
  expect(applied).toBeGreaterThan(50);
});

test.each<[string, string, (tools: HostClient) => Promise<unknown>]>([
  [
    'one long line',
    'a'.repeat(1_900_000),
    (h) => h.call('edit_file', { path: 'f', old: `${'a'.repeat(900_000)}b`, new: 'x' }),
  ],
  [
    'blank lines',
    '\n'.repeat(500_000),
    (h) => h.call('edit_file', { path: 'f', old: `${'\n'.repeat(200_000)}x`, new: 'y' }),
  ],
  [
    'many hunks',
    'a\n'.repeat(500_000),
    (h) =>
      h.call('apply_patch', {
        patch: `*** Begin Patch\n*** Update File: f\n${'@@\n-b\n+c\n'.repeat(50_000)}*** End Patch`,
      }),
  ],
])('a hostile call about %s is answered in time', async (_what, text, attempt) => {
  write({ f: text });
  // The client ends the tool host when it does not answer within a minute.
  expect(await attempt(host)).toMatchObject({ ok: false });
});
