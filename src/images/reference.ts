import { RunFailed } from '../domain/run.ts';

/** The failure of a run whose image cannot be used. The message is a sentence without its full stop. */
export function imageFailed(message: string): RunFailed {
  return new RunFailed('setup', message);
}

/**
 * Returns a failure for what went wrong while an image was fetched or unpacked. Text from other programs and servers is
 * cut and has no control characters.
 */
export function asImageFailure(error: unknown, what: string): RunFailed {
  if (error instanceof RunFailed) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return imageFailed(`${what}: the worker's disk is full; free some space there or lower ENVIRONMENT_CACHE_GB`);
  return imageFailed(`${what}: ${quoted(message)}`);
}

/** Longest text of others in a message. */
const maxQuoted = 300;

/** Makes text of others fit for a message. */
export function quoted(text: string): string {
  return text
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, maxQuoted);
}

/** The parts of an image's name. */
export interface Reference {
  /** Host, and port if there is one. */
  registry: string;
  repository: string;
  /** A tag, or a digest such as `sha256:…`. A name with both means the digest. */
  version: string;
  isDigest: boolean;
  /** The whole name, as it is shown to people. */
  name: string;
}

const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const host = '(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.|(?=[:/])))+|\\[[0-9A-Fa-f:.]+\\]';
const grammar = new RegExp(
  `^(?:(?<registry>(?:${host})(?::[0-9]{1,5})?)/)?(?<path>${component}(?:/${component})*)` +
    '(?::(?<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$',
);

/** A host with a slash after it, which ends its last label. */
const hostAlone = new RegExp(`^(?:${host})(?::[0-9]{1,5})?/$`);

/** Longer names are refused before they are parsed; the standard allows 255 characters before the tag. */
const maxLength = 500;
/** The longest host name of DNS, with a port. */
const maxHostLength = 259;

/**
 * Parses the name of an image, with the rules of the container tools: the first part is a registry if it contains a dot
 * or a colon, or is `localhost`, and other names belong to `defaultRegistry`, which may include a path.
 * @throws RunFailed when the text is not an image name
 */
export function parseReference(text: string, defaultRegistry?: string): Reference {
  const found = split(text);
  if (found === undefined)
    throw imageFailed(
      `image: "${quoted(text)}" is not an image name; expected one such as registry.example.org/team/name:tag, in lower case`,
    );
  if (found.registry !== undefined) return { ...found, registry: found.registry, name: text };
  const beginning = text.split('@')[0];
  if (defaultRegistry === undefined)
    throw imageFailed(
      `image: "${beginning}" names no registry; write registry.example.org/${beginning}, or have the operator set IMAGE_REGISTRY`,
    );
  // Images of one part are the official ones of the default registry, which are in this folder.
  const path = found.repository.includes('/') ? text : `library/${text}`;
  return { ...parseReference(`${defaultRegistry}/${path}`), name: text };
}

/**
 * Returns the host of a registry as URLs write it: in lower case, with its port unless that is 443. Returns undefined if
 * the text is not a host.
 */
export function registryHost(text: string): string | undefined {
  const url = `https://${text}`;
  return text.length <= maxHostLength && hostAlone.test(`${text}/`) && URL.canParse(url)
    ? new URL(url).host
    : undefined;
}

function split(text: string) {
  const { registry, path = '', tag, digest } = (text.length <= maxLength && grammar.exec(text)?.groups) || {};
  if (path === '') return undefined;
  const version = digest ?? tag ?? 'latest';
  const isDigest = digest !== undefined;
  if (registry === undefined || /[.:[]/.test(registry) || registry === 'localhost')
    return { registry, repository: path, version, isDigest };
  // The first part is an ordinary folder, which must be in lower case like the others.
  if (!new RegExp(`^${component}$`).test(registry)) return undefined;
  return { registry: undefined, repository: `${registry}/${path}`, version, isDigest };
}
