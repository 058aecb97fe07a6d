import { lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { App } from '../../app.ts';
import { isInGitFolder } from '../../domain/protected/protected-paths.ts';
import { RunFailed } from '../../domain/run.ts';
import { hostMatcher } from '../../egress/host-names.ts';
import { type Checkout, GitFailed, type Remote } from '../../git/engine.ts';
import { packBytes } from '../../git/native/cached.ts';
import { tooLarge } from '../../git/native/explain.ts';
import { bytesIn, modulesIn } from '../../git/native/modules.ts';
import { HostClosed, isSameAddress, normalUrl, resolveOnce, urlProblem } from '../../git/remote-url.ts';
import type { TreeEntry } from '../../git/work-tree/tree-files.ts';
import { githubUrl, hostRules } from '../../repositories/credentials.ts';
import { connectedAt, NotAllowed, privateRemote, type Readers } from './private-submodules.ts';

/** Submodules of one tree, those inside submodules included. */
const maxModules = 50;
/** Levels of submodules inside submodules. */
const maxDepth = 3;
/**
 * Bytes of all files of the submodules of one repository of a run, and of all packs that hosts sent for them. The packs are not in
 * the folders that the disk watch counts.
 */
const maxBytes = 1_000_000_000;
const maxFileBytes = 100_000;
/** Fetches of one repository of a run. Only an agent that moves submodules again and again comes near; each takes a folder. */
const maxPlaces = 250;

/** Where submodules come from. */
export interface Source {
  app: App;
  /** The repository that contains them, with its token. */
  remote: Remote;
  /** The hosts from which set-up may download, and so submodules too. */
  hosts: string[];
  signal: AbortSignal;
  /** For whom private submodules are fetched; without them, only public ones are. */
  readers?: Readers | undefined;
}

/** A submodule of a tree. Its path begins at the root of the outermost repository. */
export interface Module {
  path: string;
  url: string;
  commit: string;
}

/** A tree whose submodules are looked for. */
interface Place {
  checkout: Checkout;
  tree: string;
  /** The address to which the ones in .gitmodules are relative. */
  url: string;
  /** The path of the tree in the outermost one; '' for itself. */
  prefix: string;
  /** Says which submodules count, by their path in the outermost tree. */
  isChosen(path: string): boolean;
}

/**
 * Lists the submodules of a tree, without those inside them.
 * @throws RunFailed `repository` for one that must not be fetched, or whose address is missing
 */
export async function submodulesOf(
  source: Source,
  { checkout, tree, url, prefix, isChosen }: Place,
): Promise<Module[]> {
  const pathOf = (path: string) => (prefix === '' ? path : `${prefix}/${path}`);
  const links: [path: string, TreeEntry][] = [];
  // A tree may have 500,000 files, so there is no second list of them.
  for (const [path, entry] of await checkout.files(tree))
    if (entry.mode === '160000' && isChosen(pathOf(path))) links.push([path, entry]);
  if (links.length === 0) return [];
  if (links.length > maxModules) throw refused(prefix || '.', `there are more than ${maxModules} submodules`);
  const file = (await checkout.readFile(tree, '.gitmodules')) ?? Buffer.alloc(0);
  if (file === 'too large' || file.length > maxFileBytes)
    throw refused(prefix || '.', `.gitmodules is larger than ${maxFileBytes / 1000} kB`);
  const addresses = await modulesIn(file, source.signal);
  return links.map(([path, { oid: commit }]) => {
    const full = pathOf(path);
    if (isInGitFolder(path) || path.startsWith('-')) throw refused(full, 'its path must not be used');
    const given = addresses.get(path);
    if (given === undefined) throw refused(full, '.gitmodules names no address for it');
    return { path: full, commit, url: checkedAddress(source, full, given, url) };
  });
}

/** Returns the address of a submodule. The author of the branch chooses it. */
function checkedAddress({ app, remote, hosts }: Source, path: string, given: string, parent: string): string {
  const shown = given.replace(/\p{Cc}/gu, '?').slice(0, 200);
  const isRelative = /^\.\.?\//.test(given);
  const text = isRelative && URL.canParse(given, `${parent}/`) ? new URL(given, `${parent}/`).href : given;
  const problem = urlProblem(text, hostRules(app));
  if (problem !== undefined) throw refused(path, `its address ${shown} ${problem}`);
  const url = new URL(text);
  const isListed = url.protocol === 'https:' && url.port === '' && hostMatcher(hosts)(url.hostname);
  if (url.origin !== new URL(remote.url).origin && !isListed)
    throw refused(
      path,
      `its address ${shown} is on a host from which set-up may not download; add ${url.host} to network.setup in .deckhand.yml`,
    );
  return normalUrl(text);
}

/** Returns which commit of an opened repository to fetch. */
type ChooseCommit = (opened: Checkout) => Promise<string>;

/** A commit that somebody named. */
export interface Named {
  commit: string;
  /** Whether it is a branch or a tag. Hosts may also serve commits that are none: of forks, for example. */
  isHead: boolean;
}

/**
 * Finds the commit of a full id, a tag or a branch; a tag takes precedence, as in git.
 * @throws RunFailed `repository`
 */
async function commitNamed(opened: Checkout, { path, url }: Module, revision: string): Promise<Named> {
  const refs = (await opened.refs?.()) ?? new Map<string, string>();
  const isId = /^[0-9a-f]{40}$/i.test(revision);
  const commit = isId
    ? revision.toLowerCase()
    : (refs.get(`refs/tags/${revision}`) ?? refs.get(`refs/heads/${revision}`));
  if (commit === undefined)
    throw refused(
      path,
      `${url} has no branch or tag ${shown(revision)}; name one of its branches or tags, or all 40 characters of a commit`,
    );
  return { commit, isHead: [...refs.values()].includes(commit) };
}

/** Fetches submodules into folders of their own, each commit once. */
export class Submodules {
  readonly #source: Source;
  /** The folder that holds the fetched repositories. No sandbox sees it. */
  readonly #folder: string;
  readonly #fetched = new Map<string, Promise<Checkout>>();
  /** The number of folders so far. */
  #places = 0;
  #bytes = 0;
  #packBytes = 0;
  readonly #maxBytes: number;

  constructor(source: Source, folder: string, most = maxBytes) {
    this.#source = source;
    this.#maxBytes = most;
    this.#folder = folder;
  }

  /** Writes the submodules of a tree into a folder that has the files of the tree. `isChosen` says which ones. */
  async placeInto(folder: string, checkout: Checkout, tree: string, isChosen: (path: string) => boolean) {
    await this.#placeAll(folder, { checkout, tree, url: this.#source.remote.url, prefix: '', isChosen }, 1);
  }

  /** Writes one submodule, and those inside it, into an empty folder. */
  async placeOne(folder: string, module: Module, isChosen: (path: string) => boolean): Promise<void> {
    await this.#placeAll(folder, await this.#place(folder, module, isChosen), 2);
  }

  async #placeAll(folder: string, outer: Place, firstDepth: number): Promise<void> {
    const pending = [{ place: outer, depth: firstDepth }];
    let count = 0;
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      for (const module of await submodulesOf(this.#source, next.place)) {
        if (next.depth > maxDepth) throw refused(module.path, `submodules are nested more than ${maxDepth} deep`);
        if (++count > maxModules) throw refused(module.path, `there are more than ${maxModules} submodules`);
        const place = await this.#place(folder, module, outer.isChosen);
        pending.push({ place, depth: next.depth + 1 });
      }
    }
  }

  async #place(folder: string, module: Module, isChosen: Place['isChosen']): Promise<Place> {
    const checkout = await this.#fetch(module);
    const target = await emptyFolder(folder, module.path);
    await checkout.export(await checkout.treeOf(module.commit), target);
    return { checkout, tree: module.commit, url: module.url, prefix: module.path, isChosen };
  }

  /**
   * Fetches the commit that somebody names in the repository of a submodule.
   * @throws RunFailed `repository`
   */
  async fetchNamed(module: Module, revision: string): Promise<Named> {
    let named: Named | undefined;
    const checkout = await this.#fetchNew(module, async (opened) => {
      named = await commitNamed(opened, module, revision);
      return named.commit;
    });
    if (named === undefined) throw new Error('a submodule was fetched without a commit');
    const key = `${module.url} ${named.commit}`;
    if (this.#fetched.has(key)) await checkout.close();
    else this.#fetched.set(key, Promise.resolve(checkout));
    return named;
  }

  async close(): Promise<void> {
    const all = await Promise.allSettled(this.#fetched.values());
    for (const each of all) if (each.status === 'fulfilled') await each.value.close();
  }

  #fetch(module: Module): Promise<Checkout> {
    const key = `${module.url} ${module.commit}`;
    const known = this.#fetched.get(key);
    if (known !== undefined) return known;
    const fetching = this.#fetchNew(module, async () => module.commit);
    this.#fetched.set(key, fetching);
    // A host that could not be reached may be reached for the next copy.
    fetching.catch(() => this.#fetched.delete(key));
    return fetching;
  }

  async #fetchNew(module: Module, chooseCommit: ChooseCommit): Promise<Checkout> {
    const { app, remote, readers } = this.#source;
    const { path, url } = module;
    // Only the repository itself gets the token of the run. Otherwise the author of .gitmodules could read repositories that the
    // credential may read and the people of the run may not.
    if (isSameAddress(url, normalUrl(remote.url), githubUrl(app)))
      return this.#fetchFrom(module, { ...remote, scope: undefined }, chooseCommit, `${url} cannot be fetched`);
    const connected = readers && (await connectedAt(app, readers.own, url));
    if (connected === undefined)
      return this.#fetchFrom(
        module,
        await this.#publicRemote(url),
        chooseCommit,
        `${url} cannot be fetched without credentials; if it is private, connect it to the project (${howToConnect})`,
      );
    try {
      if (!connected.isPrivate) return await this.#fetchFrom(module, await this.#publicRemote(url), chooseCommit, '');
    } catch (error) {
      // It may have become private since GitHub was asked.
      if (!(error instanceof Closed)) throw error;
    }
    const remoteOf = privateRemote(app, readers as Readers, connected).catch((error) => {
      throw error instanceof NotAllowed ? refused(path, `${url} ${error.message}`) : error;
    });
    const whyClosed = `${url} cannot be fetched with the token of the GitHub App`;
    return this.#fetchFrom(module, await remoteOf, chooseCommit, whyClosed);
  }

  /** Fetches a submodule. @throws Closed with this reason when the host refuses the credentials, or the lack of them */
  async #fetchFrom({ path }: Module, remote: Remote, chooseCommit: ChooseCommit, whyClosed: string): Promise<Checkout> {
    const { app, signal } = this.#source;
    const { limitSeconds } = this.#source.remote;
    if (this.#places >= maxPlaces) throw refused(path, `this run has fetched submodules ${maxPlaces} times already`);
    const place = join(this.#folder, String(this.#places++));
    await mkdir(place, { recursive: true, mode: 0o700 });
    const folders = { gitDir: join(place, 'git'), workTree: join(place, 'work') };
    let checkout: Checkout | undefined;
    try {
      if (this.#packBytes >= this.#maxBytes) throw this.#tooLarge(path);
      const maxBytes = this.#maxBytes - this.#packBytes;
      checkout = await app.git.open({ ...remote, limitSeconds, maxBytes }, folders, signal);
      const commit = await chooseCommit(checkout);
      if (!(await checkout.fetchCommit(commit)))
        throw refused(path, `${remote.url} has no commit ${commit}; push it there, or change the submodule`);
      this.#bytes += await bytesIn(checkout.gitDir, commit, signal);
      this.#packBytes += await packBytes(join(checkout.gitDir, 'objects'));
      if (Math.max(this.#bytes, this.#packBytes) > this.#maxBytes) throw this.#tooLarge(path);
      return checkout;
    } catch (error) {
      await checkout?.close();
      await rm(place, { recursive: true, force: true });
      if (error instanceof GitFailed && error.message === tooLarge().message) {
        // Hosts would send as much again and again.
        this.#packBytes = this.#maxBytes;
        throw this.#tooLarge(path);
      }
      if (error instanceof HostClosed) throw refused(path, error.message);
      if (!(error instanceof GitFailed) || (error.fault !== 'auth' && error.fault !== 'missing')) throw error;
      throw new Closed('repository', `the submodule ${shown(path)}: ${whyClosed}`);
    }
  }

  #tooLarge(path: string): RunFailed {
    return refused(path, `the submodules have more than ${this.#maxBytes / 1e6} MB`);
  }

  async #publicRemote(url: string): Promise<Remote> {
    return { url, ...(await resolveOnce(url, hostRules(this.#source.app))) };
  }
}

const howToConnect =
  'everybody whose words the run follows must be able to write there, and a public repository gets private ones only if the project shares private context';

/** The host does not show a submodule with these credentials. */
class Closed extends RunFailed {}

/** Returns the folder of a submodule. @throws RunFailed when the tree has a link on the way to it */
async function emptyFolder(folder: string, path: string): Promise<string> {
  const target = join(folder, path);
  await mkdir(target, { recursive: true });
  const isReal = (await realpath(dirname(target))) === join(await realpath(folder), posix.dirname(path));
  if (!isReal || !(await lstat(target)).isDirectory()) throw refused(path, 'a link is in its place');
  return target;
}

/** Builds the failure of a run because of a submodule. */
export function refused(path: string, why: string): RunFailed {
  return new RunFailed('repository', `the submodule ${shown(path)}: ${why}`);
}

function shown(path: string): string {
  return path.replace(/\p{Cc}/gu, '?').slice(0, 200);
}
