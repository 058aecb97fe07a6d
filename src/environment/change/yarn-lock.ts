import { rangesOfYarn } from './ranges.ts';

/** Returns `v1`, the number of a later format, or undefined if a lock file does not say it exactly as Yarn writes it. */
export function formatOfYarn(text: string): string | undefined {
  if (!/__metadata|\\/.test(text)) return /^# yarn lockfile v1$/m.test(text) ? 'v1' : undefined;
  const [, version] = /^__metadata:\n {2}version: (\d+)\n(?: {2}cacheKey: \w+\n)?(?:\n|$)/m.exec(text) ?? [];
  return text.split('__metadata').length === 2 ? version : undefined;
}

/** Protocols of what Yarn gets from a registry or from the repository itself, and `patch:`, whose parts have protocols of their own. */
const usualProtocols = new Set(['npm', 'workspace', 'link', 'portal', 'patch', 'catalog']);

/** Returns whether a lock file of a later Yarn has only references that run nothing while they are fetched, written as Yarn does. */
export function isUsualLock(text: string): boolean {
  const resolutions = text.match(/resolution/g)?.length ?? 0;
  const usual = text.match(
    /^ {2}resolution: "(@[\w.-]+\/)?[\w.-]+@(npm:|workspace:|link:|portal:|patch:(@|%40)?[\w.%/-]+@npm%3A)[^"\n]*"$/gm,
  );
  const plain = decoded(text);
  return (
    resolutions === (usual?.length ?? 0) &&
    !text.includes('\\') &&
    plain !== undefined &&
    protocolsIn(plain).every((protocol) => usualProtocols.has(protocol)) &&
    dependenciesIn(text).every((range) => rangesOfYarn.test(range))
  );
}

/** References are encoded once for each reference that contains them. Nobody needs more levels. */
const mostLevels = 5;

/** Decodes all levels of a text; undefined if there are too many. */
function decoded(text: string): string | undefined {
  let plain = text;
  for (let level = 0; level < mostLevels; level++) {
    const next = plain.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (next === plain) return plain;
    plain = next;
  }
  return undefined;
}

/** Returns the protocols of the references `name@protocol:…`, which may be parts of others. */
const protocolsIn = (plain: string): string[] =>
  [...plain.matchAll(/@([a-z][\w+.-]*):/gi)].map(([, protocol = '']) => protocol.toLowerCase());

/** Returns the ranges in the sections `dependencies` of all entries. */
function dependenciesIn(text: string): string[] {
  const ranges: string[] = [];
  let isInside = false;
  for (const line of text.split('\n')) {
    if (!line.startsWith('    ')) isInside = /^ {2}["']?(optionalD|d)ependencies["']?\s*:/.test(line);
    else if (isInside) ranges.push(rangeOf(line));
  }
  return ranges;
}

/** Returns the range of a line such as `    "@a/b": "npm:^1.0.0"`; the whole line if it is written in another way. */
function rangeOf(line: string): string {
  const [, quoted, bare] = /^ {4}(?:"[^"]*"|[\w.-]+): (?:"([^"]*)"|([\w^~<>=][^"']*))$/.exec(line) ?? [];
  return quoted ?? bare ?? line;
}
