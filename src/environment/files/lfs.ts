import { createHash, randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, realpath, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { App } from '../../app.ts';
import { RunFailed } from '../../domain/run.ts';
import type { Checkout, FileInTree, Remote } from '../../git/engine.ts';
import { assumeUnchanged, LfsAttributes } from '../../git/native/attributes.ts';
import { UnfitWorkTree } from '../../git/work-tree/read-inside.ts';
import { inPortions, type TreeEntry } from '../../git/work-tree/tree-files.ts';
import { pinnedFetch } from '../../outgoing/pinned-fetch.ts';
import { checkedAddress } from '../../repositories/credentials.ts';
import { LfsClient, type Wanted } from './lfs-client.ts';
import { maxPointerBytes, pointerIn } from './lfs-pointer.ts';

/** Files in Git LFS that one tree may have, and the bytes of their contents together. */
const maxObjects = 10_000;
const maxBytes = 2_000_000_000;
/** Files to look at for a pointer at the same time. The contents of the others are not kept. */
const readAtOnce = 500;
/** Validation asks for at most this many objects. */
const validated = 500;

interface Tracked extends Wanted {
  mode: string;
  blob: string;
}

/** Puts the contents of files in Git LFS where their pointers are, and pointers back into the trees of a work tree. */
export class LfsFiles {
  readonly #checkout: Checkout;
  readonly #client: LfsClient;
  readonly #signal: AbortSignal;
  readonly #attributes: LfsAttributes;
  /** The folder of the downloaded contents. No sandbox sees it. */
  readonly #store: string;
  /** The pointers of all trees so far: the ids of their blobs, by the SHA-256 of the contents. */
  readonly #blobs = new Map<string, string>();
  #base: string | undefined;

  constructor(app: App, checkout: Checkout, remote: Remote, signal: AbortSignal) {
    this.#checkout = checkout;
    this.#signal = signal;
    this.#client = new LfsClient(remote, pinnedFetch(checkedAddress(app)), signal);
    const folder = join(dirname(checkout.gitDir), 'lfs');
    this.#attributes = new LfsAttributes(checkout.gitDir, join(folder, 'attributes.git'), signal);
    this.#store = join(folder, 'objects');
  }

  /**
   * Asks the host for the objects of a tree, without downloading any.
   * @throws RunFailed `repository` for one that is missing
   */
  async assertThere(tree: string, isChosen: (path: string) => boolean): Promise<void> {
    await this.#client.find((await this.#trackedIn(tree, isChosen)).slice(0, validated));
  }

  /** Writes contents into a folder that has the files of a tree, once all of them are here. */
  async placeInto(folder: string, tree: string, isChosen: (path: string) => boolean): Promise<void> {
    const tracked = await this.#trackedIn(tree, isChosen);
    await mkdir(this.#store, { recursive: true, mode: 0o700 });
    const fileOf = (oid: string) => join(this.#store, oid);
    const missing = new Map(tracked.filter(({ oid }) => !existsSync(fileOf(oid))).map((each) => [each.oid, each]));
    await this.#client.download(await this.#client.find([...missing.values()]), fileOf);
    const root = await realpath(folder);
    const known = new Set<string>();
    for (const { path, oid, mode } of tracked) {
      const target = join(folder, path);
      const parent = dirname(path);
      if (!known.has(parent) && (await realpath(dirname(target))) !== join(root, parent === '.' ? '' : parent))
        continue;
      known.add(parent);
      if (!(await lstat(target)).isFile()) continue;
      const unfinished = `${target}.${randomUUID()}`;
      await copyFile(fileOf(oid), unfinished, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      await chmod(unfinished, mode === '100755' ? 0o755 : 0o644);
      await rename(unfinished, target);
    }
    if (folder === this.#checkout.workTree)
      await assumeUnchanged(
        this.#checkout,
        tracked.map(({ path }) => path),
        this.#signal,
      );
  }

  renewToken(token: string | undefined): void {
    this.#client.renewToken(token);
  }

  /** Remembers the commit that is checked out, whose attributes decide what is in Git LFS. */
  begin(commit: string): void {
    this.#base = commit;
  }

  /**
   * Returns the tree with pointers instead of contents.
   * @throws UnfitWorkTree for contents that are not in Git LFS yet: a pointer without its object must not be pushed
   */
  async withPointers(tree: string): Promise<string> {
    if (this.#base === undefined) return tree;
    const base = await this.#checkout.treeOf(this.#base);
    const changes = await this.#checkout.changes(base, tree);
    const files = changes.filter(({ newMode }) => newMode.startsWith('100'));
    const tracked = await this.#attributes.trackedOf(
      base,
      files.map(({ path }) => path),
    );
    const replaced: FileInTree[] = [];
    for (const { path, newMode: mode, newOid } of files.filter((file) => tracked.has(file.path))) {
      const content = (await this.#checkout.readBlobs([newOid])).get(newOid) ?? Buffer.alloc(0);
      // An empty file has no pointer (git-lfs, docs/spec.md).
      if (content.length === 0) continue;
      const pointer = pointerIn(content)?.oid ?? createHash('sha256').update(content).digest('hex');
      const oid = this.#blobs.get(pointer);
      if (oid === undefined)
        throw new UnfitWorkTree(
          `${path} belongs to Git LFS by .gitattributes, and agents cannot add or change such files; restore or remove it`,
        );
      replaced.push({ path, mode, oid });
    }
    return replaced.length === 0 ? tree : this.#checkout.replaceFiles(tree, replaced);
  }

  async #trackedIn(commit: string, isChosen: (path: string) => boolean): Promise<Tracked[]> {
    const tree = await this.#checkout.treeOf(commit);
    const files: [path: string, file: TreeEntry][] = [];
    await inPortions(await this.#checkout.files(tree), (each) => {
      if (each[1].mode.startsWith('100') && isChosen(each[0])) files.push(each);
    });
    const names = await this.#attributes.trackedOf(
      tree,
      files.map(([path]) => path),
    );
    // Before any is read. Even files that are no pointers take time and memory.
    if (names.size > maxObjects)
      throw tooMuch(`.gitattributes assigns ${names.size} files, which is more than ${maxObjects}`);
    const chosen = files.filter(([path]) => names.has(path));
    const tracked: Tracked[] = [];
    let bytes = 0;
    for (let at = 0; at < chosen.length; at += readAtOnce) {
      const some = chosen.slice(at, at + readAtOnce);
      const blobs = await this.#checkout.readBlobs(
        some.map(([, { oid }]) => oid),
        maxPointerBytes,
      );
      for (const [path, { mode, oid: blob }] of some) {
        const pointer = pointerIn(blobs.get(blob) ?? Buffer.alloc(0));
        if (pointer === undefined) continue;
        tracked.push({ path, mode, blob, ...pointer });
        this.#blobs.set(pointer.oid, blob);
        bytes += pointer.size;
      }
    }
    if (bytes > maxBytes)
      throw tooMuch(
        `${tracked.length} files have ${Math.ceil(bytes / 1e6)} MB, which is more than ${maxBytes / 1e6} MB`,
      );
    return tracked;
  }
}

function tooMuch(what: string): RunFailed {
  return new RunFailed('repository', `Git LFS: ${what}; limit checkout.paths in .deckhand.yml`);
}
