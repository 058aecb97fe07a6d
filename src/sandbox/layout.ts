import { hostSystem, identityArguments, identityVariables, type SandboxParts, type System } from './machine/system.ts';

/** Numbers that differ between processors (linux/audit.h, and the system call tables). */
const machines: Record<string, { audit: number; socket: number; keyrings: number[] }> = {
  x64: { audit: 0xc000003e, socket: 41, keyrings: [248, 249, 250] },
  arm64: { audit: 0xc00000b7, socket: 198, keyrings: [217, 218, 219] },
};

/** Allowed socket families: unix, inet, inet6 and netlink. The sandbox's network namespace confines them. */
const families = [1, 2, 10, 16];
const ioUringSetup = 425;
const [noSuchCall, noSuchFamily] = [38, 97];

/**
 * Returns a system call filter for `bwrap --seccomp`, as classic BPF, or undefined for a processor that is not in the
 * table. The filter refuses:
 * - sockets of other families, because a network namespace does not isolate all of them: vsock reaches the host;
 * - keyrings (add_key, request_key, keyctl), because all runs would share the keyring of the service's session;
 * - io_uring, which can open sockets without a system call that the filter sees;
 * - system calls of other architectures (i386, x32), whose numbers differ.
 *
 * See man 2 seccomp and linux/seccomp.h.
 */
export function socketFilter(machine: string = process.arch): Buffer | undefined {
  const known = machines[machine];
  if (known === undefined) return undefined;
  const [load, jumpEqual, jumpAtLeast, answer] = [0x20, 0x15, 0x35, 0x06];
  const [allow, refuse] = [0x7fff0000, 0x00050000];
  const [number, audit, firstArgument] = [0, 4, 16];
  // Each check continues with the next one or jumps to one of the ends, which follow the checks.
  const checks: [code: number, value: number, then: End | 'next', otherwise: End | 'next'][] = [
    [load, audit, 'next', 'next'],
    [jumpEqual, known.audit, 'next', 'noCall'],
    [load, number, 'next', 'next'],
    [jumpAtLeast, 0x40000000, 'noCall', 'next'],
    [jumpEqual, ioUringSetup, 'noCall', 'next'],
    ...known.keyrings.map((call): (typeof checks)[number] => [jumpEqual, call, 'noCall', 'next']),
    [jumpEqual, known.socket, 'next', 'allowed'],
    [load, firstArgument, 'next', 'next'],
    ...families.map((family): (typeof checks)[number] => [jumpEqual, family, 'allowed', 'next']),
  ];
  const ends: [End, number][] = [
    ['noFamily', refuse | noSuchFamily],
    ['allowed', allow],
    ['noCall', refuse | noSuchCall],
  ];
  const jump = (at: number, to: End | 'next') =>
    to === 'next' ? 0 : checks.length - at - 1 + ends.findIndex(([name]) => name === to);
  return Buffer.concat([
    ...checks.map(([code, value, then, otherwise], at) =>
      instruction(code, code === load ? 0 : jump(at, then), code === load ? 0 : jump(at, otherwise), value),
    ),
    ...ends.map(([, value]) => instruction(answer, 0, 0, value)),
  ]);
}

type End = 'noFamily' | 'allowed' | 'noCall';

/** Encodes a `struct sock_filter`. Both processors are little-endian. */
function instruction(code: number, then: number, otherwise: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(then, 2);
  bytes.writeUInt8(otherwise, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}

/** What a program in a sandbox sees. */
export interface SandboxLayout {
  /** Arguments of bubblewrap. */
  args: string[];
  /** Small files that exist only in the sandbox, with their contents. */
  files: Record<string, string>;
  /** The pid of the process whose network namespace the program joins. Without it, the arguments decide. */
  network?: number | undefined;
}

/** A workspace as the sandbox shows it. Paths are those of the host, except `at`. */
export interface ShownTree {
  /** Where the workspace is mounted. */
  at: string;
  workTree: string;
  /** The folder that is mounted as its `.git`. */
  git: string;
  /** Where the objects of the service's git folder are mounted, and that folder; only for a copy of it. */
  objects?: { at: string; folder: string };
}

/** The /tmp and home folder of the run's commands. They are kept for the whole run. */
export interface Scratch {
  tmp: string;
  home: string;
}

/** The folder of the tool host's modules, inside the sandbox. */
export const hostFolder = '/opt/host';

/** The socket of the egress proxy, inside the sandbox of the relay. */
export const socketInside = '/opt/egress.sock';

/** The script of a command, inside the sandbox. It is a file, because the kernel limits an argument to 128 kB. */
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

/** The sandbox of the file tools. They have no network, and cannot write to the git folder. */
export function fileToolsLayout(
  parts: SandboxParts,
  { workTree, git, scratch }: Pick<ShownTree, 'workTree' | 'git'> & { scratch: Scratch },
): SandboxLayout {
  const system = hostSystem(parts);
  const args = [
    ...namespaces,
    ...['--disable-userns', '--unshare-net'],
    ...mountsOf(system),
    ...['--ro-bind', parts.toolHost, hostFolder],
    ...devices,
    ...scratchMounts(scratch),
    ...['--bind', workTree, '/work', '--ro-bind', git, '/work/.git'],
    ...sealed,
    ...['--chdir', '/work', ...variables(system.env)],
  ];
  return { args, files: system.files };
}

/**
 * The sandbox of a command. The first tree is its working folder. Trees hide what the system has in their places, and
 * variables in `env` replace the usual ones.
 */
export function commandLayout(given: {
  system: System;
  trees: ShownTree[];
  scratch: Scratch;
  network: number;
  env: Record<string, string>;
}): SandboxLayout {
  const { system, trees, scratch, network, env } = given;
  const args = [
    ...namespaces,
    '--disable-userns',
    ...mountsOf(system, new Set(trees.map(({ at }) => at))),
    ...devices,
    ...scratchMounts(scratch),
    ...trees.flatMap(({ at, workTree, git, objects }) => [
      ...['--bind', workTree, at, '--bind', git, `${at}/.git`],
      ...(objects === undefined ? [] : ['--ro-bind-try', objects.folder, objects.at]),
    ]),
    ...sealed,
    ...['--chdir', trees[0]?.at ?? '/', ...variables({ ...system.env, ...env })],
  ];
  return { args, files: system.files, network };
}

/**
 * The sandbox of the process that holds the network namespace of commands. Without devices and `--disable-userns`
 * bubblewrap creates a single user namespace: joining it gives the right to join the network namespace.
 */
export function holderLayout(parts: SandboxParts, egressSocket: string | undefined): SandboxLayout {
  const system = hostSystem(parts);
  const args = [
    ...namespaces,
    '--unshare-net',
    ...mountsOf(system),
    ...['--ro-bind', parts.toolHost, hostFolder],
    ...(egressSocket === undefined ? [] : ['--ro-bind', egressSocket, socketInside]),
    ...['--dev-bind', '/dev/null', '/dev/null', '--proc', '/proc', '--remount-ro', '/proc', '--remount-ro', '/'],
    ...['--chdir', '/', ...variables(system.env)],
  ];
  return { args, files: system.files };
}

const namespaces = [
  ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--die-with-parent', '--cap-drop', 'ALL', ...identityArguments],
];

const devices = ['--proc', '/proc', '--dev', '/dev', '--size', '67108864', '--tmpfs', '/dev/shm'];

/**
 * Files in /dev and / would use memory that is not limited. With a writable /proc, a process could lower its
 * oom_score_adj to the service's value.
 */
const sealed = ['--remount-ro', '/dev', '--remount-ro', '/proc', '--remount-ro', '/'];

function mountsOf({ mounts }: System, except?: Set<string>): string[] {
  return mounts.filter(({ at }) => !except?.has(at)).flatMap(({ args }) => args);
}

function scratchMounts({ tmp, home }: Scratch): string[] {
  return ['--bind', tmp, '/tmp', '--bind', home, identityVariables.HOME];
}

function variables(all: Record<string, string>): string[] {
  return ['--clearenv', ...Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value])];
}
