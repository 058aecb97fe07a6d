import { dirname } from 'node:path';
import type { SandboxParts } from '../layout.ts';
import { identityFiles, identityVariables, shell, usualVariables } from './identity.ts';

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
      PATH: `${dirname(inside)}:/usr/local/bin:/usr/bin:/bin`,
    },
    shell: [shell],
  };
}

/** Returns the path of Node in a sandbox with the host's system. */
export function nodeInside({ node }: Pick<SandboxParts, 'node'>): string {
  return node.startsWith('/usr/') ? node : '/opt/node/bin/node';
}
