// Runs in a thread (read-manifests.ts), because whoever writes a change chooses how long its manifests take to read.
import { approvalReasons, textsForFetch } from './approval-reasons.ts';
import type { FilesOfTree } from './files-of-tree.ts';
import type { Fetch } from './package-managers.ts';
import { referredIn } from './requirements.ts';

/** The files that decide about fetches: their ids by path in both trees, and contents by id. */
export interface Manifests {
  base: Map<string, string>;
  change: Map<string, string>;
  contents: Map<string, Uint8Array>;
}

/** What a fetch reads of the change. */
export interface ForFetch {
  texts: Map<string, string>;
  /** Whether the change names other versions of Go. */
  changesGo: boolean;
}

/** Characters of all manifests as they are written for one fetch. JSON that is deeply nested becomes many times longer. */
const maxWritten = 40_000_000;

/** Returns why the packages of a change cannot be fetched without its code having a say; see `approvalReasons`. */
export function reasonsIn(fetches: Fetch[], manifests: Manifests): string[] {
  const [base, change] = treesIn(manifests);
  try {
    const reasons = approvalReasons(fetches, base, change);
    if (reasons.length === 0) for (const fetch of fetches) assertWritable(textsForFetch(fetch, change));
    return reasons;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return ['manifests and lock files: they are nested too deeply to be checked'];
  }
}

/** Returns what a fetch without reasons against it reads of the change. */
export function readForFetch(fetch: Fetch, manifests: Manifests): ForFetch {
  const [base, change] = treesIn(manifests);
  const changesGo = fetch.manager === 'go' && versionsOfGo(base) !== versionsOfGo(change);
  return { texts: textsForFetch(fetch, change), changesGo };
}

/** Returns the files that these files of requirements refer to. */
export function referredInAll(files: [path: string, content: Uint8Array][]): string[] {
  return files.flatMap(([path, content]) => referredIn(path, textOf(content)));
}

/** The lines of a patch that name a file. Lines of code that look like them are taken for them. */
const namesFile = /^(?:---|\+\+\+|diff --git|rename|copy) (.*)/s;
/**
 * A name that may lead out of the package: a way up, a path from the root, or one that quotation marks or characters hide which
 * some programs take for the end of a line. It may be cut at its beginning, as `a/` is.
 */
const leadsOut = /\.\.|(?:^|\s)\/(?!dev\/null\b)|["\\]|(?![\t ])[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Returns why patches need an approval: package managers write whatever file a patch names. */
export function outsideOfPackage(patches: [path: string, content: Uint8Array][]): string[] {
  return patches
    .filter(([, content]) =>
      textOf(content)
        .split(/\r?\n/)
        .some((line) => leadsOut.test(namesFile.exec(line)?.[1] ?? '')),
    )
    .map(([path]) => `${path}: it changes files outside of the package`);
}

function treesIn({ base, change, contents }: Manifests): [FilesOfTree, FilesOfTree] {
  const decoded = new Map([...contents].map(([oid, content]) => [oid, textOf(content)]));
  const treeOf = (oids: Map<string, string>): FilesOfTree => ({
    oids,
    texts: new Map([...oids].flatMap(([path, oid]) => (decoded.has(oid) ? [[path, decoded.get(oid) ?? '']] : []))),
  });
  return [treeOf(base), treeOf(change)];
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString();
}

function assertWritable(texts: Map<string, string>): void {
  let left = maxWritten;
  for (const text of texts.values()) left -= text.length;
  if (left < 0) throw new RangeError('too many characters');
}

/** A pattern with line ends before the word would look through the same empty lines again and again. */
const versionOfGo = /^[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*(go|toolchain)\b.*$/gm;

function versionsOfGo({ texts }: FilesOfTree): string {
  const files = [...texts].filter(([path]) => /(^|\/)go\.(mod|work)$/.test(path));
  return JSON.stringify(files.map(([path, text]) => [path, text.match(versionOfGo)]));
}
