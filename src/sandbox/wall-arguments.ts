import type { SpawnOptions } from 'node:child_process';
import { dirname } from 'node:path';
import type { RunLimits } from './sandbox.ts';
import { socketFilter } from './seccomp.ts';

/** What all sandboxes of a run have in common. Paths are those of the host. */
export interface WallParts {
  node: string;
  /** The folder of the tool host's modules. */
  toolHost: string;
  who: Pick<SpawnOptions, 'uid' | 'gid'>;
  limits: RunLimits;
  /** The pids, as the host sees them, of the first process of each running sandbox. */
  sandboxes: Set<number>;
  /** Moves a process, and everything it starts, into the run's cgroup. */
  enter?: ((pid: number) => void) | undefined;
}

/** A sandbox to start. Paths are those of the host. */
export interface Wall extends WallParts {
  workTree: string;
  gitDir: string;
  /** Further workspaces of the run, at `/<name>`. */
  others: { name: string; workTree: string; gitDir: string }[];
  /** The /tmp and home folder of the run's commands. They are kept for the whole run. */
  scratch: { tmp: string; home: string };
}

/** The file descriptors that bubblewrap reads from and writes to. */
export const [passwdFd, statusFd, scriptFd, filterFd, argumentsFd] = [3, 4, 5, 6, 7];
export const filter = socketFilter();

/** The script of a command, inside the sandbox. It is a file, because the kernel limits an argument to 128 kB. */
export const scriptPath = '/opt/script.sh';

/** The folder of the tool host's modules, inside the sandbox. */
export const hostFolder = '/opt/host';

/** Names in the root folder of a sandbox. No workspace can be mounted under one of them. */
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

/** Returns the path of Node inside a sandbox, which contains the host's /usr. */
export function nodeInside({ node }: Pick<WallParts, 'node'>): string {
  return node.startsWith('/usr/') ? node : '/opt/node/bin/node';
}

/**
 * Returns bubblewrap's arguments. They contain paths of the host, and a sandbox can read its command line in /proc/1,
 * so bubblewrap reads them from a file descriptor instead.
 */
export function wallArguments(wall: Wall): string[] {
  const { node, toolHost, workTree, gitDir, others, scratch } = wall;
  const environment = {
    PATH: `${dirname(nodeInside(wall))}:/usr/local/bin:/usr/bin:/bin`,
    HOME: '/home/agent',
    LANG: 'C.UTF-8',
    CI: 'true',
    // The git folder belongs to the service's user and is mounted read-only. Git refuses to use it without these
    // settings.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    GIT_OPTIONAL_LOCKS: '0',
  };
  return [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--uid', '1000', '--gid', '1000'],
    ...['--die-with-parent', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ...['--json-status-fd', String(statusFd)],
    ...(filter === undefined ? [] : ['--seccomp', String(filterFd)]),
    ...['--ro-bind', '/usr', '/usr'],
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl/certs'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--ro-bind-data', String(passwdFd), '/etc/passwd', '--ro-bind-data', String(scriptFd), scriptPath],
    ...['--proc', '/proc', '--dev', '/dev', '--size', '67108864', '--tmpfs', '/dev/shm'],
    ...['--bind', scratch.tmp, '/tmp', '--bind', scratch.home, '/home/agent'],
    ...(nodeInside(wall) === node ? [] : ['--ro-bind', node, nodeInside(wall)]),
    ...['--ro-bind', toolHost, hostFolder],
    ...['--bind', workTree, '/work', '--ro-bind', gitDir, '/work/.git'],
    ...others.flatMap((o) => ['--bind', o.workTree, `/${o.name}`, '--ro-bind', o.gitDir, `/${o.name}/.git`]),
    // Files in /dev and / would use memory that is not limited. With a writable /proc, a process could lower its
    // oom_score_adj to the service's value.
    ...['--remount-ro', '/dev', '--remount-ro', '/proc', '--remount-ro', '/'],
    ...['--chdir', '/work', '--clearenv'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}
