import type { SpawnOptions } from 'node:child_process';
import { dirname } from 'node:path';
import type { RunLimits } from './sandbox.ts';
import { socketFilter } from './seccomp.ts';

/** What all sandboxes of a run have in common. */
export interface WallParts {
  node: string;
  toolHost: string;
  looseEdit: string;
  who: Pick<SpawnOptions, 'uid' | 'gid'>;
  limits: RunLimits;
  /** The first processes of the sandboxes that are running, by their pids outside. */
  sandboxes: Set<number>;
  /** Puts a process into the run's cgroup, with everything that it will start. */
  enter?: ((pid: number) => void) | undefined;
}

/** What a sandbox is made of; paths of the host. */
export interface Wall extends WallParts {
  workTree: string;
  gitDir: string;
  /** Further workspaces beside it, at `/<name>`. */
  others: { name: string; workTree: string; gitDir: string }[];
  /** Lives as long as the run: /tmp and the home folder of its commands. */
  scratch: { tmp: string; home: string };
}

/** The files that bubblewrap reads from descriptors. */
export const [passwdFd, statusFd, scriptFd, filterFd, argumentsFd] = [3, 4, 5, 6, 7];
export const filter = socketFilter();

/** Where a program finds the script it was started with; of any length, where an argument ends at 128 kB. */
export const scriptPath = '/opt/script.sh';

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

/** Where Node is inside. One below /usr is there already. */
export function nodeInside({ node }: Pick<WallParts, 'node'>): string {
  return node.startsWith('/usr/') ? node : '/opt/node/bin/node';
}

/** bubblewrap's arguments. They hold paths of the host, so they never go on a command line, which /proc/1 would show. */
export function wallArguments(wall: Wall): string[] {
  const { node, toolHost, looseEdit, workTree, gitDir, others, scratch } = wall;
  const environment = {
    PATH: `${dirname(nodeInside(wall))}:/usr/local/bin:/usr/bin:/bin`,
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
    ...(nodeInside(wall) === node ? [] : ['--ro-bind', node, nodeInside(wall)]),
    ...['--ro-bind', toolHost, '/opt/host.mjs', '--ro-bind', looseEdit, '/opt/loose-edit.mjs'],
    ...['--bind', workTree, '/work', '--ro-bind', gitDir, '/work/.git'],
    ...others.flatMap((o) => ['--bind', o.workTree, `/${o.name}`, '--ro-bind', o.gitDir, `/${o.name}/.git`]),
    // What is written to /dev and / would fill the machine's memory; through /proc a process could lower its
    // oom_score_adj to that of the service.
    ...['--remount-ro', '/dev', '--remount-ro', '/proc', '--remount-ro', '/'],
    ...['--chdir', '/work', '--clearenv'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}
