// Submodules that an agent moves to other commits: the files in the workspace, and the commits in the trees of its change.

import { lstat, mkdir, realpath, rename } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { Checkout, MovableSubmodules } from '../../git/engine.ts';
import { removeTree } from '../../sandbox/neutral-path.ts';
import { type Module, type Named, refused, type Source, type Submodules, submodulesOf } from './submodules.ts';

/** The mode of a submodule in a tree. */
const submoduleMode = '160000';
/** At most this many submodules are named to an agent that named none of them. */
const maxListed = 20;

/** The submodules of a checkout, and the commits to which a run has moved them. */
export class MovedSubmodules implements MovableSubmodules {
  readonly #checkout: Checkout;
  readonly #source: Source;
  readonly #submodules: Submodules;
  readonly #isChosen: (path: string) => boolean;
  /** The commit that is checked out. */
  #base = '';
  readonly #moved = new Map<string, Named>();

  constructor(
    checkout: Checkout,
    source: Source,
    { submodules, isChosen }: { submodules: Submodules; isChosen: (path: string) => boolean },
  ) {
    this.#checkout = checkout;
    this.#source = source;
    this.#submodules = submodules;
    this.#isChosen = isChosen;
  }

  /** Remembers the commit that is checked out. */
  begin(commit: string): void {
    this.#base = commit;
    this.#moved.clear();
  }

  /** Returns a tree of the checkout with the commits to which its submodules were moved. */
  async withMoved(tree: string): Promise<string> {
    const files = [...this.#moved].map(([path, { commit }]) => ({ path, mode: submoduleMode, oid: commit }));
    return files.length === 0 ? tree : this.#checkout.replaceFiles(tree, files);
  }

  readonly isHead = (path: string, commit: string): boolean | undefined => {
    const moved = this.#moved.get(path);
    return moved?.commit === commit ? moved.isHead : undefined;
  };

  readonly move = async (
    given: string,
    revision: string,
    prepare: (folder: string) => Promise<void>,
  ): Promise<string> => {
    const module = await this.#find(posix.normalize(given).replace(/\/$/, ''));
    const named = await this.#submodules.fetchNamed(module, revision);
    const { gitDir, workTree } = this.#checkout;
    // On the disk of the work tree, where no process of the agent gets.
    const folder = join(dirname(gitDir), 'moved');
    await removeTree(folder);
    try {
      await mkdir(folder, { mode: 0o700 });
      await this.#submodules.placeOne(folder, { ...module, commit: named.commit }, this.#isChosen);
      await prepare(folder);
      await assertReal(workTree, module.path);
      await removeTree(join(workTree, module.path));
      await rename(join(folder, module.path), join(workTree, module.path));
    } finally {
      await removeTree(folder);
    }
    this.#moved.set(module.path, named);
    return named.commit;
  };

  /** @throws RunFailed `repository` when the commit that is checked out has no such submodule, or the work tree has not */
  async #find(path: string): Promise<Module> {
    const { url } = this.#source.remote;
    const place = { checkout: this.#checkout, tree: this.#base, url, prefix: '' };
    const [found] = await submodulesOf(this.#source, { ...place, isChosen: (each) => each === path });
    if (found === undefined) {
      const files = [...(await this.#checkout.files(this.#base))];
      const paths = files.filter(([, { mode }]) => mode === submoduleMode).map(([each]) => each);
      const names = paths.slice(0, maxListed).map((each) => each.replace(/\p{Cc}/gu, '?'));
      throw refused(path, `the repository has none there; its submodules are: ${names.join(', ') || 'none'}`);
    }
    if (!this.#isChosen(path))
      throw refused(path, 'it is not in the workspace, because checkout.paths of .deckhand.yml has other folders');
    return found;
  }
}

/**
 * Checks that the folder around a submodule is a folder of the work tree. An agent may have put a link in its place.
 * @throws RunFailed `repository`
 */
async function assertReal(workTree: string, path: string): Promise<void> {
  const folder = posix.dirname(path);
  const real = await realpath(join(workTree, folder)).catch(() => undefined);
  const isReal = real === join(await realpath(workTree), folder) && (await lstat(real)).isDirectory();
  if (!isReal) throw refused(path, `${folder} is no folder any more; restore it`);
}
