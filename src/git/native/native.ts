import { randomUUID } from 'node:crypto';
import { appendFile, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { coneOf, patternsOf } from '../cone.ts';
import {
  asideRef,
  type Change,
  type Checkout,
  type FileInTree,
  type GitEngine,
  GitFailed,
  type Merged,
  maxReadBytes,
  type NewCommit,
  type Remote,
} from '../engine.ts';
import { bestBase, certainBases, requireMergeBase } from '../merge-base.ts';
import { gitIgnoreRules, ignoredPaths } from '../work-tree/ignored.ts';
import { allFiles, findFile, inPortions, namesIn, type TreeEntry } from '../work-tree/tree-files.ts';
import { readWorkTree, rememberWorkTree } from '../work-tree/work-tree.ts';
import { lines } from './explain.ts';
import { historyBefore, historyOf } from './history.ts';
import { deepenBelow, fetchBranch, fetchCommit, fetchPull, NativeRepository } from './repository.ts';
import { git } from './run-git.ts';

/** Writes the files of a tree into an empty folder; see `Checkout.export`. */
async function exportTree(repository: NativeRepository, tree: string, folder: string): Promise<void> {
  // An index of its own, so that the checkout's index stays as it is.
  const env = { GIT_INDEX_FILE: `${repository.gitDir}/export-${randomUUID()}.index` };
  try {
    const input = await exportedEntries(repository, tree);
    if (input === undefined) await repository.git([...everyName, 'read-tree', tree], { env });
    else await repository.git([...everyName, 'update-index', '-z', '--add', '--index-info'], { env, input });
    await repository.git([`--work-tree=${folder}`, ...everyName, 'checkout-index', '--all', '--quiet'], { env });
  } finally {
    await rm(env.GIT_INDEX_FILE, { force: true });
  }
}

/** Returns the files that a narrow checkout exports, as input for `git update-index --index-info`; undefined for all. */
async function exportedEntries(repository: NativeRepository, tree: string): Promise<string | undefined> {
  const { cone, base } = repository;
  if (cone === undefined) return undefined;
  const entries: string[] = [];
  await inPortions(await repository.filesOf(tree), ([path, { mode, oid }]) => {
    // A file that the commit does not have was created by the agent.
    if (cone.has(path) || !base.has(path)) entries.push(`${mode} ${oid}\t${path}\0`);
  });
  return entries.join('');
}

/** Limits the checkout to some folders; see `Checkout.narrow`. */
async function narrow(repository: NativeRepository, folders: string[]): Promise<void> {
  const { gitDir } = repository;
  repository.cone = coneOf(folders);
  await writeFile(`${gitDir}/info/sparse-checkout`, patternsOf(repository.cone));
  // In the repository's own configuration, so that git in the sandbox says so too.
  await appendFile(`${gitDir}/config`, '[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n');
}

/** Writes a tree with some files replaced; see `Checkout.replaceFiles`. */
async function replaceFiles(repository: NativeRepository, tree: string, files: FileInTree[]): Promise<string> {
  // An index of its own, so that the checkout's index stays as it is.
  const env = { GIT_INDEX_FILE: `${repository.gitDir}/replace-${randomUUID()}.index` };
  const isRemoved = ({ mode }: FileInTree) => mode === '000000';
  // Removals come first, because a folder may take the place of a file.
  const ordered = [...files.filter(isRemoved), ...files.filter((file) => !isRemoved(file))];
  const input = ordered
    .map(
      (file) => `${isRemoved(file) ? '0' : file.mode} ${isRemoved(file) ? '0'.repeat(40) : file.oid}\t${file.path}\0`,
    )
    .join('');
  try {
    await repository.git([...everyName, 'read-tree', tree], { env });
    await repository.git([...everyName, 'update-index', '-z', '--add', '--replace', '--index-info'], { env, input });
    return (await repository.git(['write-tree'], { env })).toString('utf8').trim();
  } finally {
    await rm(env.GIT_INDEX_FILE, { force: true });
  }
}

/**
 * Number of comparisons to cache. The end of a run requests the same one several times; a long run requests many others
 * before.
 */
const maxRemembered = 8;
/** Larger ones are read again. */
const maxRememberedBytes = 2_000_000;

/** Returns the changed paths between two commits or trees. */
async function changesBetween(
  repository: NativeRepository,
  from: string,
  to: string,
  maxBytes?: number,
): Promise<Change[]> {
  if (from === to) return [];
  const { changes: remembered } = repository;
  const pair = `${from} ${to}`;
  const known = remembered.get(pair);
  if (known !== undefined) return known;
  const output = await repository.git(
    [...['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index'], ...[from, to]],
    maxBytes === undefined ? {} : { maxBytes },
  );
  const changes = await parseRaw(output);
  if (output.length > maxRememberedBytes) return changes;
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(pair, changes);
  return changes;
}

/** Parses git's raw format: `:100644 100644 <old> <new> M\0path\0…` */
async function parseRaw(raw: Buffer): Promise<Change[]> {
  const changes: Change[] = [];
  await inPortions(recordsOf(raw), ([meta, path]) => {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = meta.slice(1).split(' ');
    changes.push({ path, oldMode, newMode, oldOid, newOid });
  });
  return changes;
}

function* recordsOf(raw: Buffer): Generator<[meta: string, path: string]> {
  for (let at = 0; at < raw.length; ) {
    const middle = raw.indexOf(0, at);
    const end = raw.indexOf(0, middle + 1);
    yield [raw.toString('latin1', at, middle), raw.toString('utf8', middle + 1, end)];
    at = end + 1;
  }
}

/** Writes a commit and returns its id. */
async function writeCommit(repository: NativeRepository, commit: NewCommit): Promise<string> {
  const { tree, parents, message } = commit;
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  return text(await repository.git(args, { input: message, env: authorship(commit) }));
}

function authorship({ author, at }: NewCommit): Record<string, string> {
  const date = `${Math.floor(at.getTime() / 1000)} +0000`;
  return {
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  };
}

/** Merges two commits; see `Checkout.merge`. */
async function mergeCommits(repository: NativeRepository, ours: string, theirs: string): Promise<Merged> {
  await requireMergeBase(historyOf(repository, ours, [theirs]));
  const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', ours, theirs];
  // `git merge-tree` exits with 1 when there are conflicts.
  const [tree = '', ...conflicts] = (await repository.git(args, { accept: [1] })).toString('utf8').split('\0');
  return { tree, conflicts: conflicts.filter((path) => path !== '') };
}

/** Returns whether a commit is an ancestor of another; false also for a commit that is not in the repository. */
async function isAncestor(repository: NativeRepository, ancestor: string, commit: string): Promise<boolean> {
  try {
    // A commit that exists is its own ancestor; that takes no process.
    if (ancestor === commit) await repository.objects.treeOf(commit);
    else await repository.git(['merge-base', '--is-ancestor', ancestor, commit]);
    return true;
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
}

/**
 * Pushes a commit to a ref. The host refuses one whose history we do not have from a commit that its branches still have: the
 * base was pushed by force since we fetched it. Then more of the history is fetched.
 */
async function pushSpec(repository: NativeRepository, commit: string, spec: string): Promise<void> {
  const { remote } = repository;
  const push = () => repository.gitInWorkTree(['push', '--quiet', '--no-verify', '--', remote.url, spec], { remote });
  await push().catch(async (error) => {
    if (!(error instanceof GitFailed) || !/shallow update not allowed/.test(error.message)) throw error;
    await deepenBelow(repository, commit);
    await push();
  });
}

/** Pushes a commit; see `Checkout.push`. */
async function pushCommit(repository: NativeRepository, commit: string, branch: string): Promise<void> {
  const { remote, signal } = repository;
  const ref = `refs/heads/${branch}`;
  try {
    await pushSpec(repository, commit, `${commit}:${ref}`);
  } catch (error) {
    if (signal?.aborted) throw error;
    // The push may have succeeded although its response was lost. Check the remote's branch.
    const head = await repository.git(['ls-remote', '--', remote.url, ref], { remote }).then(text, () => '');
    if (!head.startsWith(commit)) throw error;
  }
}

/** Pushes a commit to a ref outside of the branches; see `Checkout.pushAside`. */
async function pushAside(repository: NativeRepository, commit: string, name: string): Promise<void> {
  await pushSpec(repository, commit, `+${commit}:${asideRef(name)}`);
}

/** Deletes a ref outside of the branches; see `Checkout.removeAside`. */
async function removeAside(repository: NativeRepository, name: string): Promise<void> {
  const { remote } = repository;
  const ref = asideRef(name);
  const args = ['push', '--quiet', '--no-verify', '--', remote.url, `:${ref}`];
  await repository.gitInWorkTree(args, { remote }).catch(async (error) => {
    // Git fails for a ref that is not there, with words that differ between versions and servers.
    if (text(await repository.git(['ls-remote', '--', remote.url, ref], { remote })) !== '') throw error;
  });
}

function text(output: Buffer): string {
  return output.toString('utf8').trim();
}

/** Limits for listing refs: enough for about 100,000 of them. */
const listing = { maxBytes: 8_000_000, limits: { memoryBytes: 256_000_000, fileBytes: 0 } };

/** Lists branches, and tags if `kinds` names them. An annotated tag counts as the commit that it leads to. */
async function listRefs(
  remote: Remote,
  kinds: string[],
  signal: AbortSignal | undefined,
): Promise<Map<string, string>> {
  const out = await git(['ls-remote', ...kinds, '--', remote.url], { remote, signal, ...listing });
  // A tag is followed by what it leads to, whose name ends with ^{}.
  return new Map(
    lines(out.toString('utf8')).map((line) => {
      const [sha = '', ref = ''] = line.split('\t');
      return [ref.replace(/\^\{\}$/, ''), sha];
    }),
  );
}

/**
 * Runs the installed git, isolated from every configuration but our own. It trusts the certificates in the file, or those
 * of the system if there is none.
 */
export function nativeGit(certificates?: string): GitEngine {
  const trusting = (remote: Remote): Remote => (certificates === undefined ? remote : { ...remote, certificates });
  return {
    name: 'native',
    version: async () => (await git(['--version'], {})).toString('utf8').trim(),
    listBranches: async (remote, signal) => {
      const refs = await listRefs(trusting(remote), ['--heads'], signal);
      return new Map([...refs].map(([ref, commit]) => [ref.replace('refs/heads/', ''), commit]));
    },
    open: async (remote, folders, signal) => {
      await initialize(folders, signal);
      return checkoutOf(new NativeRepository(trusting(remote), folders, signal));
    },
  };
}

async function initialize(folders: { gitDir: string; workTree: string }, signal: AbortSignal | undefined) {
  const { gitDir, workTree } = folders;
  await mkdir(gitDir, { recursive: true, mode: 0o755 });
  await mkdir(workTree, { recursive: true, mode: 0o755 });
  await git(['init', '--quiet', '--bare', gitDir], { signal });
  // The sandbox mounts the folder as .git, and `git status` should work there.
  await appendFile(`${gitDir}/config`, '[core]\n\tbare = false\n');
  // Takes precedence over every .gitattributes file, so that no filter or conversion changes file contents.
  await mkdir(`${gitDir}/info`, { recursive: true });
  await writeFile(`${gitDir}/info/attributes`, '* -text !eol -ident -filter -working-tree-encoding\n');
}

function checkoutOf(repository: NativeRepository): Checkout {
  const { gitDir, workTree, objects } = repository;
  return {
    gitDir,
    workTree,
    fetch: (branch) => fetchBranch(repository, branch),
    fetchPull: (number, maxBytes) => fetchPull(repository, number, maxBytes),
    fetchCommit: (commit) => fetchCommit(repository, commit),
    history: (commit, count) => historyBefore(repository, commit, count),
    refs: () => listRefs(repository.remote, ['--heads', '--tags'], repository.signal),
    narrow: (folders) => narrow(repository, folders),
    checkout: (commit) => checkoutCommit(repository, commit),
    remember: () => rememberWorkTree(repository),
    snapshot: () => snapshot(repository),
    treeOf: objects.treeOf,
    changes: (from, to, maxBytes) => changesBetween(repository, from, to, maxBytes),
    readFile: (commit, path) => readFile(repository, commit, path),
    listFolder: async (commit, path) => namesIn(objects.folder, await objects.treeOf(commit), path),
    files: async (commit) => allFiles(objects.folder, await objects.treeOf(commit)),
    writeBlob: async (input) =>
      (await repository.git(['hash-object', '-w', '--stdin'], { input })).toString('utf8').trim(),
    replaceFiles: (tree, files) => replaceFiles(repository, tree, files),
    export: (tree, folder) => exportTree(repository, tree, folder),
    ignoredIn: (folder, tree) => ignoredIn(repository, folder, tree),
    readBlobs: (oids, maxBytes) => readBlobs(repository, oids, maxBytes),
    commit: (commit) => writeCommit(repository, commit),
    mergeBases: (commit, others) => certainBases(historyOf(repository, commit, others)),
    commitsSince: (base, head, most) => historyOf(repository, head, []).since([base], most),
    mergeBase: (a, b) => bestBase(historyOf(repository, a, [b])),
    merge: (ours, theirs) => mergeCommits(repository, ours, theirs),
    isAncestor: (ancestor, commit) => isAncestor(repository, ancestor, commit),
    push: (commit, branch) => pushCommit(repository, commit, branch),
    pushAside: (commit, name) => pushAside(repository, commit, name),
    removeAside: (name) => removeAside(repository, name),
    renewToken: async (token) => {
      repository.remote = { ...repository.remote, token };
    },
    close: async () => objects.close(),
  };
}

async function readFile({ objects }: NativeRepository, commit: string, path: string) {
  const found = await findFile(objects.folder, await objects.treeOf(commit), path);
  if (found === undefined) return undefined;
  return (await objects.size(found.oid)) > maxReadBytes ? 'too large' : objects.blob(found.oid);
}

/** Objects to request from git at the same time. Each request takes memory until it is answered. */
const blobsAtOnce = 500;

async function readBlobs({ objects }: NativeRepository, oids: string[], maxBytes = Number.POSITIVE_INFINITY) {
  const contents = new Map<string, Buffer>();
  const read = async (oid: string) => {
    if ((await objects.size(oid)) <= maxBytes) contents.set(oid, await objects.blob(oid));
  };
  const left = [...new Set(oids)];
  for (let at = 0; at < left.length; at += blobsAtOnce) await Promise.all(left.slice(at, at + blobsAtOnce).map(read));
  return contents;
}

/**
 * By default git silently drops names that are unsafe on macOS or Windows. Keep them here: the scan before the push
 * refuses them by name.
 */
const everyName = ['-c', 'core.protectHFS=false', '-c', 'core.protectNTFS=false'];

/** Checks out a commit; see `Checkout.checkout`. */
async function checkoutCommit(repository: NativeRepository, commit: string): Promise<void> {
  // Lists the files before any is written, because this fails for a commit with too many of them.
  const files = await repository.filesOf(commit);
  await repository.gitInWorkTree(['checkout', '--quiet', '--force', '--detach', commit]);
  repository.base = files;
  repository.lastSnapshot = undefined;
}

/** Takes a snapshot of the work tree; see `Checkout.snapshot`. */
async function snapshot(repository: NativeRepository): Promise<string> {
  const { gitDir, workTree, base, before, cone, signal } = repository;
  const ignored = gitIgnoreRules(gitDir, workTree);
  try {
    const found = await readWorkTree({ workTree, gitDir, base, isIgnored: ignored.ask, before, cone, signal });
    return await writeTree(repository, await indexEntries(repository, found));
  } finally {
    ignored.close();
  }
}

/** Lists what git ignores in a folder; see `Checkout.ignoredIn`. */
async function ignoredIn(
  { gitDir, objects, signal }: NativeRepository,
  folder: string,
  tree: string,
): Promise<string[]> {
  const base = await allFiles(objects.folder, tree);
  const ignored = gitIgnoreRules(gitDir, folder);
  try {
    return await ignoredPaths({ workTree: folder, base, isIgnored: ignored.ask, signal });
  } finally {
    ignored.close();
  }
}

/** Returns the differences from the commit as input for `git update-index --index-info`. */
async function indexEntries({ base, cone }: NativeRepository, found: Map<string, TreeEntry>): Promise<string> {
  const entries: string[] = [];
  await inPortions(base.keys(), (path) => {
    if (!found.has(path) && cone?.has(path) !== false) entries.push(`0 ${'0'.repeat(40)}\t${path}\0`);
  });
  await inPortions(found, ([path, { mode, oid }]) => {
    const old = base.get(path);
    if (old?.mode !== mode || old.oid !== oid) entries.push(`${mode} ${oid}\t${path}\0`);
  });
  return entries.join('');
}

/**
 * Writes the tree from a copy of the index that the checkout wrote, so that git never reads the work tree. Files whose
 * names are not UTF-8 have no entries and remain unchanged.
 */
async function writeTree(repository: NativeRepository, entries: string): Promise<string> {
  const { gitDir, lastSnapshot } = repository;
  if (lastSnapshot?.entries === entries) return lastSnapshot.tree;
  const env = { GIT_INDEX_FILE: `${gitDir}/snapshot.index` };
  await copyFile(`${gitDir}/index`, env.GIT_INDEX_FILE);
  const update = [...everyName, 'update-index', '-z', '--add', '--replace', '--index-info'];
  if (entries !== '') await repository.git(update, { env, input: entries });
  const tree = (await repository.git(['write-tree'], { env })).toString('utf8').trim();
  repository.lastSnapshot = { entries, tree };
  return tree;
}
