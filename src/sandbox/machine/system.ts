import type { SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RunLimits } from '../sandbox.ts';

/** What all sandboxes of a run have in common. Paths are those of the host. */
export interface SandboxParts {
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

/** The shell of commands on the host's own system. Most people and models write for bash. */
const shell = existsSync('/usr/bin/bash') ? '/usr/bin/bash' : '/bin/sh';

/** The user of commands, and the machine's own name. */
const [name, home, hostName] = ['agent', '/home/agent', 'sandbox'];

const users = (userShell: string) => [
  'root:x:0:0:root:/root:/bin/sh',
  `${name}:x:1000:1000:${name}:${home}:${userShell}`,
  // Files of other users show as this one.
  'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
];
const groups = ['root:x:0:', `${name}:x:1000:`, 'nogroup:x:65534:'];

/**
 * Small files that make a sandbox a familiar machine. The line of `::1` does not name `localhost`: many servers listen
 * on the first address of that name, and many clients try 127.0.0.1.
 */
export function identityFiles(userShell: string): Record<string, string> {
  return {
    '/etc/passwd': text(users(userShell)),
    '/etc/group': text(groups),
    '/etc/hosts': text([`127.0.0.1\tlocalhost`, `127.0.1.1\t${hostName}`, '::1\tip6-localhost ip6-loopback']),
    // Names are not looked up in the network, so looking one up fails at once.
    '/etc/nsswitch.conf': text(['passwd', 'group', 'hosts', 'services', 'protocols'].map((each) => `${each}:\tfiles`)),
  };
}

/** Variables that fit the files above. */
export const identityVariables = { HOME: home, USER: name, LOGNAME: name };

/** Default values of variables, which a system can override. */
export const usualVariables = { LANG: 'C.UTF-8', CI: 'true' };

export const identityArguments = ['--uid', '1000', '--gid', '1000', '--hostname', hostName];

function text(lines: string[]): string {
  return `${lines.join('\n')}\n`;
}

/** The system that programs in a sandbox run on. */
export interface System {
  mounts: Mount[];
  /** Small files that exist only in the sandbox, with their contents. */
  files: Record<string, string>;
  /** The usual variables. */
  env: Record<string, string>;
  /** The program that runs a script whose path is its last argument. */
  shell: string[];
}

/** An entry of the system's root folder or below. */
export interface Mount {
  at: string;
  /** Arguments of bubblewrap. */
  args: string[];
}

/** Parts of the host's /etc that programs below /usr need. They contain no secrets. */
const systemFiles = ['alternatives', 'ld.so.cache', 'ssl/certs', 'ssl/openssl.cnf', 'services', 'protocols'];

/** Where package managers put the programs that they install for a user. */
export const homePrograms = `${identityVariables.HOME}/.local/bin`;

/** Shows the host's own system, read-only. */
export function hostSystem(parts: Pick<SandboxParts, 'node'>): System {
  const { node } = parts;
  const links = ['bin', 'sbin', 'lib', 'lib64'];
  const inside = nodeInside(parts);
  return {
    mounts: [
      { at: '/usr', args: ['--ro-bind', '/usr', '/usr'] },
      ...links.map((name) => ({ at: `/${name}`, args: ['--symlink', `usr/${name}`, `/${name}`] })),
      ...systemFiles.map((name) => ({ at: `/etc/${name}`, args: ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`] })),
      ...(inside === node ? [] : [{ at: inside, args: ['--ro-bind', node, inside] }]),
    ],
    files: identityFiles(shell),
    env: {
      ...usualVariables,
      ...identityVariables,
      SHELL: shell,
      PATH: [
        inside === node ? '' : dirname(inside),
        homePrograms,
        dirname(inside),
        '/usr/local/bin',
        '/usr/bin',
        '/bin',
      ]
        .filter((folder, i, all) => folder !== '' && all.indexOf(folder) === i)
        .join(':'),
    },
    shell: [shell],
  };
}

/** Returns the path of Node in a sandbox with the host's system. */
export function nodeInside({ node }: Pick<SandboxParts, 'node'>): string {
  return node.startsWith('/usr/') ? node : '/opt/node/bin/node';
}
