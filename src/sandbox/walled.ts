import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { RunFailed } from '../domain/run.ts';
import { socketFilter } from './seccomp.ts';

/** What a sandbox is made of; paths of the host. */
export interface Wall {
  node: string;
  toolHost: string;
  looseEdit: string;
  workTree: string;
  gitDir: string;
  /** Further workspaces beside it, at `/<name>`. */
  others: { name: string; workTree: string; gitDir: string }[];
  /** Lives as long as the run: /tmp and the home folder of its commands. */
  scratch: { tmp: string; home: string };
  who: Pick<SpawnOptions, 'uid' | 'gid'>;
}

/** What is the same for all of them. */
export type WallParts = Pick<Wall, 'node' | 'toolHost' | 'looseEdit' | 'who'>;

/** A process behind the wall, with everything that it started. */
export interface Walled {
  child: ChildProcess;
  /** Ends all of it, and returns when it is gone or cannot be waited for. */
  end(): Promise<void>;
}

const passwd = 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n';
const [passwdFd, statusFd, scriptFd, filterFd] = [3, 4, 5, 6];
const filter = socketFilter();
/** Per process, in bytes; what all of them take together is limited by the machine only (docs/security.md). */
export const limits = { nproc: 4096, fsize: 268_435_456, data: 4_294_967_296, core: 0 };
/** So long we wait for a process to be born before we kill it, and for it to be gone afterwards. */
const patienceMs = 3000;

/** Where a program finds the script it was started with; of any length, where an argument ends at 128 kB. */
export const scriptPath = '/opt/script.sh';

/** Starts a program inside; `--unshare-all` takes the network away too. The environment of the host does not exist there. */
export function startWalled(wall: Wall, program: string[], script = ''): Walled {
  const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'];
  const limited = Object.entries(limits).map(([name, value]) => `--${name}=${value}`);
  const args = [...limited, '--', 'bwrap', ...wallArguments(wall), ...program];
  const child = spawn('prlimit', args, { ...wall.who, env: {}, cwd: '/', stdio });
  // With too many files open there is no process and no stream, only the error to come.
  child.on('error', () => {});
  if (child.stdio === undefined) throw new RunFailed('sandbox', 'the machine has too many files open');
  for (const [fd, text] of [
    [passwdFd, passwd],
    [scriptFd, script],
    [filterFd, filter],
  ] as const) {
    const pipe = child.stdio[fd] as Writable;
    pipe.on('error', () => {});
    pipe.end(text);
  }
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const born = innerPid(child.stdio[statusFd] as Readable);
  let ending: Promise<void> | undefined;
  const endOnce = async () => {
    // Killed before it has asked to die with its parent, the inner process would stay behind; so its pid is waited for.
    const pid = await within(patienceMs, Promise.race([born, gone.then(() => undefined)]));
    // bubblewrap ends by itself once it has reaped the inner process, so its end says that nothing is left. Killed at
    // once, it would leave behind what is still dying.
    if (pid !== undefined && kill(pid)) await within(patienceMs, gone);
    child.kill('SIGKILL');
    await within(patienceMs, gone);
    for (const stream of child.stdio) stream?.destroy();
  };
  return {
    child,
    end: () => {
      // Its pid may be somebody else's by the second time.
      ending ??= endOnce();
      return ending;
    },
  };
}

/** What stands in the root of a sandbox. */
export const rootNames = new Set([
  'bin',
  'dev',
  'etc',
  'home',
  'lib',
  'lib64',
  'opt',
  'proc',
  'sbin',
  'tmp',
  'usr',
  'work',
]);

function wallArguments({ node, toolHost, looseEdit, workTree, gitDir, others, scratch }: Wall): string[] {
  const environment = {
    PATH: '/opt/node/bin:/usr/local/bin:/usr/bin:/bin',
    HOME: '/home/agent',
    LANG: 'C.UTF-8',
    CI: 'true',
    // The git folder belongs to the service; inside it is only looked at.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    GIT_OPTIONAL_LOCKS: '0',
  };
  return [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--uid', '1000', '--gid', '1000'],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ...['--json-status-fd', String(statusFd)],
    ...(filter === undefined ? [] : ['--seccomp', String(filterFd)]),
    ...['--ro-bind', '/usr', '/usr'],
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl/certs'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--ro-bind-data', String(passwdFd), '/etc/passwd', '--ro-bind-data', String(scriptFd), scriptPath],
    ...['--proc', '/proc', '--dev', '/dev', '--size', '67108864', '--tmpfs', '/dev/shm'],
    ...['--bind', scratch.tmp, '/tmp', '--bind', scratch.home, '/home/agent'],
    ...['--ro-bind', node, '/opt/node/bin/node', '--ro-bind', toolHost, '/opt/host.mjs'],
    ...['--ro-bind', looseEdit, '/opt/loose-edit.mjs'],
    ...['--bind', workTree, '/work', '--ro-bind', gitDir, '/work/.git'],
    ...others.flatMap((o) => ['--bind', o.workTree, `/${o.name}`, '--ro-bind', o.gitDir, `/${o.name}/.git`]),
    // What is written to these would fill the machine's memory, and nobody could be held to it.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', '/work', '--clearenv'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** bubblewrap tells the pid of what it started: `{ "child-pid": 123 }`. */
function innerPid(status: Readable): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = '';
    status.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-1000);
      const pid = Number(/"child-pid": (\d+)/.exec(text)?.[1]);
      if (pid > 1) resolve(pid);
    });
    status.on('error', () => resolve(undefined));
    status.once('close', () => resolve(undefined));
  });
}

/** False when it is gone already. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
