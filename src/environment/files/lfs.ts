import { createHash, randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { App } from '../../app.ts';
import { isAttributesFile } from '../../domain/protected/protected-paths.ts';
import { RunFailed } from '../../domain/run.ts';
import type { Change, Checkout, FileInTree, LargeFiles, Remote } from '../../git/engine.ts';
import { assumeUnchanged, LfsAttributes } from '../../git/native/attributes.ts';
import { UnfitWorkTree } from '../../git/work-tree/read-inside.ts';
import { inPortions, type TreeEntry } from '../../git/work-tree/tree-files.ts';
import { storeBlob } from '../../git/work-tree/work-tree.ts';
import { pinnedFetch } from '../../outgoing/pinned-fetch.ts';
import { checkedAddress } from '../../repositories/credentials.ts';
import { LfsClient, type Wanted } from './lfs-client.ts';
import { maxPointerBytes, type Pointer, pointerIn, pointerTo } from './lfs-pointer.ts';

/** Files in Git LFS that one tree may have, and the bytes of their contents together. */
const maxObjects = 10_000;
const maxBytes = 2_000_000_000;
/** Files whose contents are in memory at the same time while pointers are looked for. */
const readAtOnce = 500;
/** New objects that one change may have, and their bytes together. A single one may be as large as any changed file. */
const maxNew = 100;
const maxNewBytes = 100_000_000;
/** Validation asks for at most this many objects. */
const validated = 500;

interface Tracked extends Wanted {
  mode: string;
  blob: string;
}

/**
 * Puts the contents of files in Git LFS where their pointers are, and pointers into the trees of a work tree. Contents of the
 * change are kept here until they are uploaded, because a pointer must not be pushed without its object.
 */
export class LfsFiles implements LargeFiles {
  readonly #checkout: Checkout;
  readonly #client: LfsClient;
  readonly #signal: AbortSignal;
  readonly #attributes: LfsAttributes;
  /** The folder of the downloaded contents. No sandbox sees it. */
  readonly #store: string;
  /** The pointers of all commits so far, whose objects the host has: the ids of their blobs, by the SHA-256 of the contents. */
  readonly #blobs = new Map<string, string>();
  /** The pointers that this change has and the host may lack, by the ids of their blobs. */
  readonly #made = new Map<string, Pointer>();
  /** For contents that were looked at: the id of the blob of the pointer, by that of their own. */
  readonly #pointers = new Map<string, string>();
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
    const missing = new Map(
      tracked.filter(({ oid }) => !existsSync(this.#fileOf(oid))).map((each) => [each.oid, each]),
    );
    await this.#client.download(await this.#client.find([...missing.values()]), this.#fileOf);
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
      await copyFile(this.#fileOf(oid), unfinished, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
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

  /** Remembers the commit that is checked out. */
  begin(commit: string): void {
    this.#base = commit;
  }

  /**
   * Returns the tree with pointers instead of contents. Its own .gitattributes decide, as with git. Files that it does not change
   * stay as they are, also where a new rule names them.
   * @throws UnfitWorkTree for a pointer to an object that nobody has here, and for too many new objects
   */
  async withPointers(tree: string): Promise<string> {
    if (this.#base === undefined) return tree;
    const base = await this.#checkout.treeOf(this.#base);
    const changes = await this.#checkout.changes(base, tree);
    const files = changes.filter(({ newMode }) => newMode.startsWith('100'));
    const tracked = await this.#attributes.trackedOf(
      changes.some(({ path }) => isAttributesFile(path)) ? tree : base,
      files.map(({ path }) => path),
    );
    const replaced: FileInTree[] = [];
    const added = new Map<string, number>();
    for (const { path, newMode: mode, newOid } of files.filter((file) => tracked.has(file.path))) {
      const oid = this.#pointers.get(newOid) ?? (await this.#pointerFor(path, newOid));
      if (oid === undefined) continue;
      this.#pointers.set(newOid, oid);
      const { oid: sha256, size } = this.#made.get(oid) ?? {};
      if (sha256 !== undefined && size !== undefined) added.set(sha256, size);
      replaced.push({ path, mode, oid });
    }
    const bytes = [...added.values()].reduce((sum, size) => sum + size, 0);
    if (added.size > maxNew || bytes > maxNewBytes)
      throw new UnfitWorkTree(
        `the change has ${added.size} new files in Git LFS with ${Math.ceil(bytes / 1e6)} MB; at most ${maxNew} with ${maxNewBytes / 1e6} MB can be uploaded`,
      );
    return replaced.length === 0 ? tree : this.#checkout.replaceFiles(tree, replaced);
  }

  /** Returns the blob of the pointer for a file; undefined for an empty file, which has none (git-lfs, docs/spec.md). */
  async #pointerFor(path: string, blob: string): Promise<string | undefined> {
    const content = (await this.#checkout.readBlobs([blob])).get(blob) ?? Buffer.alloc(0);
    if (content.length === 0) return undefined;
    const given = pointerIn(content);
    const oid = given?.oid ?? createHash('sha256').update(content).digest('hex');
    const known = this.#blobs.get(oid) ?? [...this.#made].find(([, made]) => made.oid === oid)?.[0];
    if (known !== undefined) return known;
    if (given !== undefined)
      throw new UnfitWorkTree(
        `${path} is a pointer of Git LFS to contents that are not in this repository; write the contents into the file, or restore it`,
      );
    await this.#keep(oid, content);
    const pointer = { oid, size: content.length };
    const made = await storeBlob(this.#checkout.gitDir, pointerTo(pointer));
    this.#made.set(made, pointer);
    return made;
  }

  async #keep(oid: string, content: Buffer): Promise<void> {
    await mkdir(this.#store, { recursive: true, mode: 0o700 });
    const unfinished = join(this.#store, `${oid}.${randomUUID()}`);
    await writeFile(unfinished, content, { mode: 0o600 });
    await rename(unfinished, this.#fileOf(oid));
  }

  readonly #fileOf = (oid: string) => join(this.#store, oid);

  isNew = (blob: string) => this.#made.has(blob);

  contentOf = async (blob: string, maxBytes: number): Promise<Buffer | undefined> => {
    const known = this.#made.get(blob) ?? (await this.#pointerOf(blob));
    if (known === undefined) return undefined;
    const size = await stat(this.#fileOf(known.oid)).then(
      (stats) => stats.size,
      () => undefined,
    );
    return size === undefined || size > maxBytes ? undefined : readFile(this.#fileOf(known.oid));
  };

  know = async (commit: string, isChosen: (path: string) => boolean = () => true): Promise<void> => {
    await this.#trackedIn(commit, isChosen);
  };

  upload = async (tree: string, changes: Change[], ref: string): Promise<void> => {
    const files = changes.filter(({ newMode }) => newMode.startsWith('100'));
    const wanted = new Map<string, Wanted>();
    const others: Change[] = [];
    for (const change of files) {
      const made = this.#made.get(change.newOid);
      if (made === undefined) others.push(change);
      else wanted.set(made.oid, { path: change.path, ...made });
    }
    await this.#assertKnown(tree, others);
    if (wanted.size > 0) await this.#client.upload([...wanted.values()], this.#fileOf, ref);
  };

  /** @throws RunFailed `internal` for a pointer whose object is neither here nor known to be on the host */
  async #assertKnown(tree: string, changes: Change[]): Promise<void> {
    const known = new Set(this.#blobs.values());
    const unknown: string[] = [];
    for (const { path, newOid } of changes)
      if (!known.has(newOid) && (await this.#pointerOf(newOid)) !== undefined) unknown.push(path);
    const [first] = await this.#attributes.trackedOf(tree, unknown);
    if (first !== undefined)
      throw new RunFailed(
        'internal',
        `Git LFS: the contents of ${first} are not known, so nothing was pushed; retry the task`,
      );
  }

  async #pointerOf(blob: string): Promise<Pointer | undefined> {
    const content = (await this.#checkout.readBlobs([blob], maxPointerBytes)).get(blob);
    return content && pointerIn(content);
  }

  async #trackedIn(commit: string, isChosen: (path: string) => boolean): Promise<Tracked[]> {
    const tree = await this.#checkout.treeOf(commit);
    const files: [path: string, file: TreeEntry][] = [];
    await inPortions(await this.#checkout.files(tree), (each) => {
      const [path, { mode, oid }] = each;
      // A new file may be outside of the chosen folders.
      if (mode.startsWith('100') && (isChosen(path) || this.#made.has(oid))) files.push(each);
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
        // A tree of the change may be looked at, too.
        if (!this.#made.has(blob)) this.#blobs.set(pointer.oid, blob);
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
