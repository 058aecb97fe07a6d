import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** Everything that decides what set-up makes. Two set-ups with the same parts may share one kept result. */
export interface KeyParts {
  projectId: string;
  repositoryId: string;
  /** The digest of the image, or a description of the worker's own system. */
  system: string;
  commands: string[];
  env: Record<string, string>;
  /** The hosts that set-up may reach, as .deckhand.yml lists them. */
  hosts: string[];
  secrets: { name: string; version: string }[];
  /** The files that decide whether set-up runs again. */
  files: { path: string; oid: string }[];
}

/** Raised when kept results of older versions cannot be used any more. */
const format = 1;

/** Returns the name under which a result of set-up is kept: 64 hex digits. */
export function keyOf({ projectId, repositoryId, system, commands, env, hosts, secrets, files }: KeyParts): string {
  const sorted = <T>(list: T[], by: (item: T) => string) => [...list].sort((a, b) => (by(a) < by(b) ? -1 : 1));
  const parts = [
    format,
    [projectId, repositoryId, process.arch, system],
    commands,
    sorted(Object.entries(env), ([name]) => name),
    sorted(hosts, String),
    sorted(secrets, ({ name }) => name).map(({ name, version }) => [name, version]),
    sorted(files, ({ path }) => path).map(({ path, oid }) => [path, oid]),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

let system: Promise<string> | undefined;

/**
 * Describes the worker's own system. Compiled packages of another release, or of another Node, may not work on it.
 */
export function ownSystem(): Promise<string> {
  system ??= readFile('/etc/os-release', 'utf8')
    .catch(() => process.platform)
    .then((release) => {
      const lines = release.split('\n').filter((line) => /^(ID|VERSION_ID)=/.test(line));
      return [...lines, `node modules ${process.versions.modules}`].join(' ');
    });
  return system;
}
