import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gitOut } from '../support/git.ts';
import type { Play } from '../support/play-tools.ts';

const program = fileURLToPath(new URL('../support/play-tools.ts', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'deckhand-machine-'));
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const ordinary = ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups'];
const users: [string, string[]][] = [['whoever runs the tests', []]];
if (process.getuid?.() === 0 && canRead(ordinary)) users.push(['an ordinary user', ordinary]);

function canRead([first = '', ...as]: string[]): boolean {
  try {
    execFileSync(first, [...as, 'test', '-r', program]);
    return true;
  } catch {
    return false;
  }
}

/** Creates a workspace and a git folder as the service does: the folder is elsewhere, and its HEAD is detached. */
function makeRun(folder: string): void {
  const [work, git] = [join(folder, 'work'), join(folder, 'git')];
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, 'a.txt'), 'one\n');
  gitOut(folder, 'init', '-q', '--bare', git);
  gitOut(git, 'config', 'core.bare', 'false');
  const inWork = (...args: string[]) => gitOut(folder, `--git-dir=${git}`, `--work-tree=${work}`, ...args);
  inWork('add', '-A');
  inWork('commit', '-q', '-m', 'first');
  inWork('checkout', '-q', '--detach');
  writeFileSync(join(git, 'hooks/pre-commit'), '#!/bin/sh\necho a hook of the service; exit 1\n', { mode: 0o755 });
}

/** Returns every file of a folder with its content. */
function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'base64')]),
  );
}

let n = 0;
/** Plays calls in two runs, `one` and `other`, as a user. Returns undefined where no sandbox works. */
async function play(as: string[], calls: Play['calls'], settings = {}) {
  const folder = join(root, `play${n++}`);
  for (const run of ['one', 'other']) makeRun(join(folder, run));
  if (as.length > 0) execFileSync('chown', ['-R', '1000:1000', folder]);
  const before = contentsOf(join(folder, 'one/git'));
  const runs = Object.fromEntries(['one', 'other'].map((run) => [run, { folder: join(folder, run), settings }]));
  const given: Play = { toolsDir: join(folder, 'tools'), runs, calls };
  const [file = '', ...args] = [...as, process.execPath, program, JSON.stringify(given)];
  const { stdout } = await promisify(execFile)(file, args, { env: { PATH: process.env.PATH ?? '', TOKEN: 'canary' } });
  const { state, answers } = JSON.parse(stdout) as { state: { works: boolean; says: string }; answers: string[] };
  if (!state.works && process.env.CI) throw new Error(state.says);
  if (!state.works) console.warn(`skipped: ${state.says}`);
  expect(contentsOf(join(folder, 'one/git'))).toEqual(before);
  return state.works ? { folder, answers } : undefined;
}

const run = (command: string, name = 'one'): Play['calls'][number] => ({
  run: name,
  tool: 'run_command',
  args: { command, timeoutSeconds: 60 },
});
const start = (name: string, command: string): Play['calls'][number] => ({
  run: 'one',
  tool: 'start_process',
  args: { name, command },
});
const see = (name: string, until: string) => ({ run: 'one', tool: 'read_output', args: { name }, until });

/** Returns the output of an answer without its first line. */
const outputOf = (answer = '') => answer.slice(answer.indexOf('\n') + 1);

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
      { env: { KEPT: 'a value', PATH: '/first:/usr/bin:/bin' } },
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
