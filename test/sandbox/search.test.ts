import { join } from 'node:path';
import type { HostClient } from '../../src/sandbox/open-tools.ts';
import { toolHosts } from './tool-hosts.ts';

const { work, open, write } = toolHosts();
let host: HostClient;
beforeEach(() => {
  host = open();
});

describe('search and lists', () => {
  test('leave out what git ignores, by the rules of every folder', async () => {
    write({
      '.gitignore': 'build/\n*.log\n!keep.log\n/top.js\n**/gen/*.js\nsp\\ ace\n',
      'lib/.gitignore': 'own.js\n!important.log\n',
    });
    const seen = ['keep.log', 'lib/important.log', 'lib/top.js', 'src/a.js', 'src/gen/a.ts', 'build.js'];
    const unseen = ['build/a.js', 'src/build/a.js', 'a.log', 'lib/own.js', 'top.js', 'src/gen/a.js', 'sp ace'];
    const outside = ['node_modules/x/a.js', '.git/config'];
    write(Object.fromEntries([...seen, ...unseen, ...outside].map((path) => [path, 'needle\n'])));
    const listed = (await host.call('list_files', { depth: 5 })).text.split('\n').filter((path) => !path.endsWith('/'));
    expect(listed.filter((path) => !path.endsWith('.gitignore'))).toEqual([...seen].sort());
    for (const each of [host, open({ options: ['--without-ripgrep'] })]) {
      const { text } = await each.call('search', { pattern: 'needle' });
      expect(
        text
          .split('\n')
          .filter((line) => !line.startsWith(' '))
          .sort(),
      ).toEqual([...seen].sort());
    }
    // What is named is searched, ignored or not.
    expect((await host.call('search', { pattern: 'needle', path: 'build' })).text).toBe('build/a.js\n     1\tneedle');
  });

  test('ripgrep and grep find the same, in the same form', async () => {
    write({
      'a.txt': `${'x needle\n'.repeat(30)}`,
      'b.txt': `one\r\nneedle\r\n${'y'.repeat(5000)}needle\n`,
      'bin.dat': 'needle\0needle\n',
      '-n.txt': 'needle',
      'c d/é.txt': 'Needle (x)\n',
    });
    const grep = open({ options: ['--without-ripgrep'] });
    for (const args of [
      { pattern: 'needle' },
      { pattern: 'ne+dle', regex: true },
      { pattern: 'needle', ignoreCase: true },
      { pattern: 'needle', path: 'b.txt' },
      { pattern: 'Needle (x)' },
      { pattern: '-n' },
      { pattern: 'none such' },
      { pattern: '[', regex: true },
    ]) {
      const [a, b] = await Promise.all([host.call('search', args), grep.call('search', args)]);
      expect([args, b.ok, b.ok ? b.text : '']).toEqual([args, a.ok, a.ok ? a.text : '']);
    }
    const { text } = await host.call('search', { pattern: 'needle' });
    expect(text).toMatch(/^-n\.txt\n {5}1\tneedle\na\.txt\n {5}1\tx needle\n/);
    expect(text).toMatch(/ {4}20\tx needle\n {2}\[more than 20 lines of this file match\]\nb\.txt\n {5}2\tneedle\n/);
    expect(text).not.toMatch(/bin\.dat|y{401}/);
  });

  test('no configuration of the repository or the user reaches ripgrep', async () => {
    write({ '.ripgreprc': '--pre=/bin/false\n', 'a.txt': 'needle\n', '.rgignore': 'a.txt\n' });
    const env = { RIPGREP_CONFIG_PATH: join(work(), '.ripgreprc'), HOME: work() };
    expect((await open({ env }).call('search', { pattern: 'needle' })).text).toBe('a.txt\n     1\tneedle');
  });
});
