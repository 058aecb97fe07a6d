// Which files of a repository a run, its set-up and its checks get: the key `checkout` of .deckhand.yml.

import { dirname, join, posix } from 'node:path';
import type { App } from '../../app.ts';
import { RunFailed } from '../../domain/run.ts';
import { coneOf } from '../../git/cone.ts';
import type { Checkout, Remote } from '../../git/engine.ts';
import { inPortions } from '../../git/work-tree/tree-files.ts';
import { settingsFile } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { hostsOf } from '../command-access.ts';
import { LfsFiles } from './lfs.ts';
import { MovedSubmodules } from './moved-submodules.ts';
import { assertInstalled, connectedAt, NotAllowed, type Readers } from './private-submodules.ts';
import { refused, type Source, Submodules, submodulesOf } from './submodules.ts';

type Chosen = Pick<RepositorySettings, 'checkout'>;

/** Where a checkout comes from, and the user of its files. */
export interface Choosing {
  app: App;
  remote: Remote;
  settings: RepositorySettings;
  signal: AbortSignal;
  /** For whom private submodules are fetched; without them, only public ones are. */
  readers?: Readers | undefined;
}

/**
 * Makes a checkout write the files that the settings ask for. Call it before the first checkout. The folders of files with
 * conflicts are added, because somebody has to resolve them.
 * @throws RunFailed `repository` when the git engine cannot do it
 */
export async function chooseFiles(checkout: Checkout, given: Choosing, conflicts: string[] = []): Promise<void> {
  const { submodules, lfs, paths } = given.settings.checkout;
  const needsGit = submodules ? 'submodules' : lfs ? 'lfs' : 'paths';
  if ((submodules || lfs || paths.length > 0) && (checkout.narrow === undefined || given.app.git.name !== 'native'))
    throw cannotBeUsed(
      `checkout.${needsGit} needs git, and git in JavaScript is in use; install git (GIT_ENGINE=native)`,
    );
  const folders = conflicts.map((path) => posix.dirname(path)).filter((folder) => folder !== '.');
  const chosen = paths.length === 0 ? [] : [...paths, ...folders];
  if (chosen.length > 0) await checkout.narrow?.(chosen);
  if (lfs) withLfs(checkout, given, chosen);
  if (submodules) withSubmodules(checkout, await sourceOf(given), chosen);
}

/** At most this many .gitattributes files are read. Those that name Git LFS are usually in the root. */
const maxAttributeFiles = 20;

/** Returns which keys of `checkout` a commit has use for: it has submodules, or attributes that give files to Git LFS. */
export async function hasBesides(
  checkout: Checkout,
  commit: string,
  files: ReadonlyMap<string, { mode: string }>,
): Promise<('submodules' | 'lfs')[]> {
  const attributes = [...files.keys()].filter((path) => posix.basename(path) === '.gitattributes');
  attributes.sort((one, other) => one.length - other.length);
  let hasLfs = false;
  for (const path of attributes.slice(0, maxAttributeFiles)) {
    const file = await checkout.readFile(commit, path);
    const lines = Buffer.isBuffer(file) ? file.toString('utf8', 0, 256_000).split('\n') : [];
    hasLfs ||= lines.some((line) => !line.startsWith('#') && line.split(/\s+/).includes('filter=lfs'));
  }
  const hasSubmodules = [...files.values()].some(({ mode }) => mode === '160000');
  return [...(hasSubmodules ? ['submodules' as const] : []), ...(hasLfs ? ['lfs' as const] : [])];
}

async function sourceOf({ app, remote, settings, signal, readers }: Choosing): Promise<Source> {
  return { app, remote, signal, readers, hosts: await hostsOf({ app, settings }, 'setup') };
}

/** Returns whether a path is inside some folders; all are when there are no folders. */
function choiceOf(folders: string[]): (path: string) => boolean {
  return folders.length === 0 ? () => true : coneOf(folders).has;
}

/** Changes a checkout, so that files in Git LFS have their contents on disk and their pointers in trees. */
function withLfs(checkout: Checkout, { app, remote, signal }: Choosing, folders: string[]): void {
  const { checkout: write, export: writeTree, snapshot, renewToken } = checkout;
  const lfs = new LfsFiles(app, checkout, remote, signal);
  const isChosen = choiceOf(folders);
  checkout.largeFiles = { ...lfs, know: (commit) => lfs.know(commit, isChosen) };
  checkout.checkout = async (commit) => {
    await write(commit);
    lfs.begin(commit);
    await lfs.placeInto(checkout.workTree, commit, isChosen);
  };
  checkout.export = async (tree, folder) => {
    await writeTree(tree, folder);
    await lfs.placeInto(folder, tree, isChosen);
  };
  checkout.snapshot = async () => lfs.withPointers(await snapshot());
  checkout.renewToken = async (token) => {
    lfs.renewToken(token);
    await renewToken(token);
  };
}

/** Changes a checkout, so that its submodules are written wherever its files are. */
function withSubmodules(checkout: Checkout, source: Source, folders: string[]): void {
  const { checkout: write, export: writeTree, snapshot, renewToken, close } = checkout;
  const submodules = new Submodules(source, join(dirname(checkout.gitDir), 'modules'));
  const isChosen = choiceOf(folders);
  const moved = new MovedSubmodules(checkout, source, { submodules, isChosen });
  checkout.submodules = moved;
  checkout.checkout = async (commit) => {
    await write(commit);
    moved.begin(commit);
    await submodules.placeInto(checkout.workTree, checkout, commit, isChosen);
  };
  checkout.snapshot = async () => moved.withMoved(await snapshot());
  checkout.renewToken = async (token) => {
    source.remote = { ...source.remote, token };
    await renewToken(token);
  };
  checkout.export = async (tree, folder) => {
    await writeTree(tree, folder);
    await submodules.placeInto(folder, checkout, tree, isChosen);
  };
  checkout.close = async () => {
    await submodules.close();
    await close();
  };
}

/**
 * Checks without downloading that the host has the contents of the files in Git LFS at a commit.
 * @throws RunFailed `repository` that names the first file whose contents are missing
 */
export async function assertLfs(checkout: Checkout, given: Choosing, commit: string): Promise<void> {
  const { lfs, paths } = given.settings.checkout;
  if (lfs) await new LfsFiles(given.app, checkout, given.remote, given.signal).assertThere(commit, choiceOf(paths));
}

/**
 * Checks without fetching that the submodules of a commit may be fetched, apart from the rights of people. Submodules inside
 * them are not known before.
 * @throws RunFailed `repository` that says what is wrong with the first one that may not
 */
export async function assertSubmodules(checkout: Checkout, given: Choosing, commit: string): Promise<void> {
  const { submodules, paths } = given.settings.checkout;
  if (!submodules) return;
  const { app, remote, readers } = given;
  const place = { checkout, tree: commit, url: remote.url, prefix: '', isChosen: choiceOf(paths) };
  for (const { path, url } of await submodulesOf(await sourceOf(given), place)) {
    const connected = readers && (await connectedAt(app, readers.own, url));
    if (connected?.isPrivate !== true || connected.id === readers?.own.id) continue;
    await assertInstalled(app, connected).catch((error) => {
      throw error instanceof NotAllowed ? refused(path, `${url} ${error.message}`) : error;
    });
  }
}

/**
 * Checks that the folders exist at a commit.
 * @throws RunFailed `repository` that names the first one that does not
 */
export async function assertFoldersExist(
  checkout: Checkout,
  { checkout: { paths } }: Chosen,
  { branch, head }: { branch: string; head: string },
): Promise<void> {
  for (const path of paths)
    if ((await checkout.listFolder(head, path)).length === 0)
      throw cannotBeUsed(`checkout.paths: there is no folder ${path} on the branch ${branch}`);
}

/**
 * Returns those of a tree's files that its checkout has: all, or those inside the chosen folders and those that `base` does
 * not have.
 */
export async function chosenOf<T>(
  { checkout: { paths } }: Chosen,
  files: Map<string, T>,
  base = files,
): Promise<Map<string, T>> {
  if (paths.length === 0) return files;
  const cone = coneOf(paths);
  const chosen = new Map<string, T>();
  await inPortions(files, ([path, file]) => {
    if (cone.has(path) || !base.has(path)) chosen.set(path, file);
  });
  return chosen;
}

/** Writes what the agent should know about its files; empty if it has all of them. */
export function toldOfFiles({ checkout: { submodules, lfs, paths } }: Chosen): string {
  const parts = [];
  if (paths.length > 0)
    parts.push(
      `The workspace has only a part of the repository: ${paths.join(', ')}, and the files in the folders above. All other files exist and stay as they are. Commands and checks do not see them either.`,
    );
  if (submodules)
    parts.push(
      'Submodules are there to be read. Changes inside them are not part of your change. If the task says that a submodule moves to another commit, use set_submodule.',
    );
  if (lfs)
    parts.push(
      'Files in Git LFS have their contents. Write contents, not pointers: those of new and changed files are uploaded before the push.',
    );
  return parts.join('\n');
}

function cannotBeUsed(why: string): RunFailed {
  return new RunFailed('repository', `${settingsFile} on the default branch cannot be used: ${why}`);
}
