import type { SpawnOptions } from 'node:child_process';
import { dirname } from 'node:path';
import type { RunLimits } from './sandbox.ts';
import { socketFilter } from './seccomp.ts';

/** What the sandboxes of a run share. Paths are paths of the host. */
export interface WallParts {
  node: string;
  toolHost: string;
  looseEdit: string;
  who: Pick<SpawnOptions, 'uid' | 'gid'>;
  limits: RunLimits;
  /** The pids, as the host sees them, of the first process of each running sandbox. */
  sandboxes: Set<number>;
  /** Puts a process, and everything it will start, into the run's cgroup. */
  enter?: ((pid: number) => void) | undefined;
}

/** A sandbox to start. Paths are paths of the host. */
export interface Wall extends WallParts {
  workTree: string;
  gitDir: string;
  /** Further workspaces of the run, at `/<name>`. */
  others: { name: string; workTree: string; gitDir: string }[];
  /** /tmp and the home folder of the run's commands. They live as long as the run. */
  scratch: { tmp: string; home: string };
}

/** The descriptors that bubblewrap reads and writes. */
export const [passwdFd, statusFd, scriptFd, filterFd, argumentsFd] = [3, 4, 5, 6, 7];
export const filter = socketFilter();

/** The script of a command, inside the sandbox. A file, because an argument can have 128 kB at most. */
export const scriptPath = '/opt/script.sh';

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

/** The path of Node inside a sandbox, which contains the host's /usr. */
export function nodeInside({ node }: Pick<WallParts, 'node'>): string {
  return node.startsWith('/usr/') ? node : '/opt/node/bin/node';
}

/** bubblewrap's arguments. They contain paths of the host, so they are never put on the command line, which /proc/1 shows. */
export function wallArguments(wall: Wall): string[] {
  const { node, toolHost, looseEdit, workTree, gitDir, others, scratch } = wall;
  const environment = {
    PATH: `${dirname(nodeInside(wall))}:/usr/local/bin:/usr/bin:/bin`,
    HOME: '/home/agent',
    LANG: 'C.UTF-8',
    CI: 'true',
    // The git folder belongs to the service and is mounted read-only. Git trusts it only with these settings.
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
    ...(nodeInside(wall) === node ? [] : ['--ro-bind', node, nodeInside(wall)]),
    ...['--ro-bind', toolHost, '/opt/host.mjs', '--ro-bind', looseEdit, '/opt/loose-edit.mjs'],
    ...['--bind', workTree, '/work', '--ro-bind', gitDir, '/work/.git'],
    ...others.flatMap((o) => ['--bind', o.workTree, `/${o.name}`, '--ro-bind', o.gitDir, `/${o.name}/.git`]),
    // Files in /dev and / would take memory that no limit counts. Through /proc a process could lower its oom_score_adj
    // to that of the service.
    ...['--remount-ro', '/dev', '--remount-ro', '/proc', '--remount-ro', '/'],
    ...['--chdir', '/work', '--clearenv'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}
