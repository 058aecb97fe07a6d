import { rangesOfYarn } from './ranges.ts';

/** Returns `v1`, the number of a later format, or undefined if a lock file does not say it exactly as Yarn writes it. */
export function formatOfYarn(text: string): string | undefined {
  if (!/__metadata|\\/.test(text)) return /^# yarn lockfile v1$/m.test(text) ? 'v1' : undefined;
  const [, version] = /^__metadata:\n {2}version: (\d+)\n(?: {2}cacheKey: \w+\n)?(?:\n|$)/m.exec(text) ?? [];
  return text.split('__metadata').length === 2 ? version : undefined;
}

/** Protocols of what Yarn gets from a registry or from the repository itself, and `patch:`, whose parts have protocols of their own. */
const usualProtocols = new Set(['npm', 'workspace', 'link', 'portal', 'patch', 'catalog']);

/** A name or a value, as Yarn writes it: in quotation marks, or without if no character needs them. */
const [name, value] = [String.raw`("[^"\\\n]+"|[\w./-]+)`, String.raw`("[^"\\\n]*"|[\w^~<>=./(][^"'#\\\n]*)`];
/** Each line of a lock file, as Yarn writes it. YAML has many other ways to say the same. */
const usualLine = new RegExp(
  [
    '(#.*)?',
    '__metadata:',
    String.raw`"[^"\\\n]+":`,
    String.raw`\? "[^"\\\n]+"`,
    ':',
    ` {2}(version|cacheKey|resolution|languageName|linkType|checksum|conditions): ${value}`,
    ' {2}(bin|dependencies|peerDependencies|dependenciesMeta|peerDependenciesMeta):',
    ` {4}${name}: ${value}`,
    ` {4}${name}:`,
    ' {6}(optional|built|unplugged): (true|false)',
  ]
    .map((line) => `^${line}$`)
    .join('|'),
);

/** Returns whether a lock file has only lines that Yarn writes. An empty line or a comment stands between entries only. */
function isUsuallyWritten(text: string): boolean {
  const lines = text.split('\n');
  return lines.every((line, i) => usualLine.test(line) && (!/^(#|$)/.test(line) || !lines[i + 1]?.startsWith(' ')));
}

/** Returns whether a lock file of a later Yarn has only references that run nothing while they are fetched, written as Yarn does. */
export function isUsualLock(text: string): boolean {
  const resolutions = text.match(/resolution/g)?.length ?? 0;
  const usual = text.match(
    /^ {2}resolution: "(@[\w.-]+\/)?[\w.-]+@(npm:|workspace:|link:|portal:|patch:((@|%40)[\w.-]+(\/|%2F))?[\w.-]+@npm%3A)[^"\n]*"$/gm,
  );
  const plain = decoded(text);
  return (
    isUsuallyWritten(text) &&
    resolutions === (usual?.length ?? 0) &&
    plain !== undefined &&
    protocolsIn(plain).every((protocol) => usualProtocols.has(protocol)) &&
    !otherLocator.test(plain) &&
    dependenciesIn(text).every((range) => rangesOfYarn.test(range))
  );
}

/** A package that a patch belongs to, and that is fetched for it, if it is neither of a registry nor of the repository. */
const otherLocator = /locator=(?!(?:@[\w.-]+\/)?[\w.-]+@(?:workspace|npm):)/;

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
    if (!line.startsWith('    ')) isInside = line === '  dependencies:';
    else if (isInside) ranges.push(/: "?([^"]*)"?$/.exec(line)?.[1] ?? line);
  }
  return ranges;
}
