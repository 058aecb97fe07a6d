import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BackgroundService } from '../../src/sandbox/machine/machine.ts';
import { untilNoneHas } from '../support/machine/processes.ts';
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
    await untilNoneHas(mark);
  });
});

/** A command that listens on a port of the loopback device after a while. */
const server = (port: number, afterMs = 0) =>
  `node -e "setTimeout(() => require('net').createServer((c) => c.end('served')).listen(${port}, '127.0.0.1'), ${afterMs})"`;
const serve = (services: BackgroundService[], seconds = 120) => ({
  run: 'one',
  tool: 'services',
  args: { services, seconds },
});

test('services are up before the next command, and commands reach them', async () => {
  const played = await play(
    [],
    [
      serve([{ run: server(8001, 300), port: 8001 }, { run: 'echo here; sleep 60' }]),
      run('cat < /dev/tcp/localhost/8001'),
    ],
  );
  if (played === undefined) return;
  expect(played.answers).toEqual(['all are up', expect.stringMatching(/^\[exit code 0].*\nserved$/)]);
});

test('a service that is not up says why', async () => {
  const up = { run: server(8001), port: 8001 };
  const played = await play(
    [],
    [
      serve([up, { run: 'echo before; echo no database >&2; exit 3', port: 8002 }]),
      serve([{ run: 'true' }]),
      serve([{ run: 'echo busy; sleep 60', port: 8004 }], 1),
    ],
  );
  if (played === undefined) return;
  expect(played.answers).toEqual([
    'the service "echo before; echo no database >&2; exit 3" is not up: exit code 3. Its output:\nbefore\nno database',
    'the service "true" is not up: exit code 0; a service must stay in the foreground. Its output:\n(none)',
    // On a busy machine a second may be too short for its output.
    expect.stringMatching(/ is not up: nothing listens on port 8004 after 1 s\. Its output:\n(busy|\(none\))$/),
  ]);
});

test('the answer of a command ends with what happened during it', async () => {
  const read = { run: 'one', tool: 'read_file', args: { path: 'a.txt' } };
  const news = ['[network] one', '[network] two'];
  const played = await play([], [read, run('printf out'), start('a', 'echo up; sleep 60'), run('true')], { news });
  expect(played?.answers ?? []).toEqual(
    played && [
      expect.not.stringContaining('[network]'),
      expect.stringMatching(/^\[exit code 0].*\nout\n\[network] one$/),
      expect.stringMatching(/\n\[network] two$/),
      expect.stringMatching(/^\[exit code 0] after [\d.]+ s$/),
    ],
  );
});

test('a variable cannot carry further arguments for the sandbox', async () => {
  const env = { INNOCENT: 'x\0--bind\0/\0/host' };
  const played = await play([], [run('ls /host')], { settings: { env } });
  expect(played?.answers ?? []).toEqual(
    played && ['the run failed with sandbox: a variable or a path for commands contains a NUL character; remove it'],
  );
});
