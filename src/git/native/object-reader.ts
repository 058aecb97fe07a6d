import { isUtf8 } from 'node:buffer';
import { GitFailed } from '../engine.ts';
import { inPortions } from '../portions.ts';
import type { TreeEntry } from '../work-tree/tree-files.ts';
import { CatFile, type GitObject } from './cat-file.ts';

/** Reads objects of one repository. @throws GitFailed `broken` for an object that is missing or cannot be read */
export interface ObjectReader {
  /** Returns the tree of a commit. */
  treeOf(commit: string): Promise<string>;
  /** Returns the entries of a folder, by name. Names that are not UTF-8 are left out, because JSON cannot hold them. */
  folder(tree: string): Promise<Map<string, TreeEntry>>;
  size(oid: string): Promise<number>;
  blob(oid: string): Promise<Buffer>;
  /** Closes the open packs. The next request opens the packs that exist then. */
  forget(): void;
  /** Ends the reader. Every later request is rejected. */
  close(): void;
}

/**
 * Reads objects through one `git cat-file` process, which is started on first use: a request takes 0.1 ms, compared
 * with 8 ms for a process per request. Only ids are passed, so no file name can be mistaken for an option or a
 * revision.
 */
export function objectReader(gitDir: string, signal: AbortSignal | undefined): ObjectReader {
  let running: CatFile | undefined;
  let isClosed = false;
  const ask = (command: 'info' | 'contents', name: string): Promise<GitObject> => {
    signal?.throwIfAborted();
    if (isClosed) throw closed();
    if (running === undefined || running.isOver) running = new CatFile(gitDir, signal);
    return running.ask(command, name);
  };
  const contents = async (oid: string, kind: string) => {
    const found = await ask('contents', oid);
    if (found.kind !== kind) throw new GitFailed('broken', `git: object ${oid} is a ${found.kind}, expected a ${kind}`);
    return found.content;
  };
  return {
    treeOf: async (commit) => (await ask('info', `${commit}^{tree}`)).oid,
    folder: async (tree) => parseTree(await contents(tree, 'tree')),
    size: async (oid) => (await ask('info', oid)).size,
    blob: (oid) => contents(oid, 'blob'),
    forget: () => running?.end(new GitFailed('broken', 'git: a fetch interrupted the reading of an object')),
    close: () => {
      isClosed = true;
      running?.end(closed());
    },
  };
}

const closed = () => new GitFailed('broken', 'git: the checkout is closed');

/** Parses git's tree format: `<mode> <name>\0<20 bytes>…` */
async function parseTree(tree: Buffer): Promise<Map<string, TreeEntry>> {
  const entries = new Map<string, TreeEntry>();
  await inPortions(entriesIn(tree), ({ mode, name, oid }) => {
    if (isUtf8(name)) entries.set(name.toString('utf8'), { mode: canonical(mode), oid });
  });
  return entries;
}

function* entriesIn(tree: Buffer) {
  for (let at = 0; at < tree.length; ) {
    const [space, nul] = [tree.indexOf(' ', at), tree.indexOf(0, at)];
    const name = tree.subarray(space + 1, nul);
    yield { mode: tree.toString('latin1', at, space), name, oid: tree.toString('hex', nul + 1, nul + 21) };
    at = nul + 21;
  }
}

/** Normalizes a mode as git does: old tools wrote folders as 040000 and files as 100664. */
function canonical(mode: string): string {
  const bits = Number.parseInt(mode, 8);
  const kind = bits & 0o170000;
  if (kind === 0o100000) return (bits & 0o100) === 0 ? '100644' : '100755';
  return kind.toString(8);
}
