import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlays, outputOf, run, see, start, users } from './plays.ts';

const { play, close } = openPlays();
afterAll(close);

describe.each(users)('for %s', (_who, as) => {
  test('commands run in bash, as a user with a name, a home and localhost', async () => {
    const played = await play(
      as,
      [
        run('set -o pipefail; [[ ab == a* ]] && echo "$BASH_VERSINFO"'),
        run('whoami; id -gn; echo "$USER $LOGNAME $HOME $SHELL"; getent passwd 1000 | cut -d: -f6; hostname'),
        run('getent ahosts localhost | sort -u -k1,1 | cut -d" " -f1; getent hosts sandbox | cut -d" " -f1'),
        run(
          `node -e "require('net').createServer().listen(0, 'localhost', function () { console.log(this.address().address); this.close() })"`,
        ),
        run('getent hosts example.org || echo unknown'),
        run('echo "$KEPT $PATH"; env | grep -c -e canary -e TOKEN'),
      ],
      { settings: { env: { KEPT: 'a value', PATH: '/first:/usr/bin:/bin' } } },
    );
    expect(played?.answers.map(outputOf) ?? []).toEqual(
      played && [
        expect.stringMatching(/^[5-9]\n$/),
        'agent\nagent\nagent agent /home/agent /usr/bin/bash\n/home/agent\nsandbox\n',
        '127.0.0.1\n127.0.1.1\n',
        '127.0.0.1\n',
        'unknown\n',
        'a value /first:/usr/bin:/bin\n0\n',
      ],
    );
  });

  test('commands and background processes of a run share localhost, with no other run', async () => {
    const server = `node -e "require('http').createServer((_, r) => r.end('served')).listen(8123, '127.0.0.1', () => console.log('up'))"`;
    const ask = `node -e "fetch('http://localhost:8123').then((r) => r.text()).catch((e) => e.cause.code).then(console.log)"`;
    const played = await play(as, [
      start('server', server),
      see('server', 'up'),
      run(ask),
      run(ask, 'other'),
      { run: 'one', tool: 'stop_process', args: { name: 'server' } },
      run(ask),
    ]);
    if (played === undefined) return;
    const [, , own, others, , after] = played.answers.map(outputOf);
    expect([own, others, after]).toEqual(['served\n', 'ECONNREFUSED\n', 'ECONNREFUSED\n']);
  });

  test('git works on a copy, which the host never reads', async () => {
    const played = await play(as, [
      run('git status --short; git log --format=%s; echo two >> a.txt; git diff --stat | tail -1'),
      run('git stash -q && cat a.txt && git stash pop -q && git status --short'),
      run('git checkout -q -b mine && git commit -q -am second && git log --format="%an %s" | cat'),
      run('git gc -q && git fsck && git branch --list mine && git config core.editor vi && echo well'),
      run('printf "#!/bin/sh\\n" > .git/hooks/post-commit || mkdir .git/hooks; rm -rf .git/refs .git/HEAD; echo gone'),
    ]);
    if (played === undefined) return;
    expect(played.answers.map(outputOf)).toEqual([
      'first\n 1 file changed, 1 insertion(+)\n',
      'one\n M a.txt\n',
      'agent second\nT first\n',
      expect.stringMatching(/\* mine\nwell\n$/),
      expect.stringMatching(/gone\n$/),
    ]);
    expect(readdirSync(join(played.folder, 'one/work/.git'))).toEqual([]);
    expect(readdirSync(join(played.folder, 'one')).sort()).toEqual(['git', 'work', 'work.home', 'work.tmp']);
  });

  test('no process outlives the run', async () => {
    const mark = `7${process.pid}${as.length}`;
    await play(as, [start('a', `setsid sleep ${mark} & sleep ${mark}`), run(`setsid nohup sleep ${mark} &`)]);
    const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(mark));
    expect(left.map(commandOf)).toEqual([]);
  });
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
