import fs from 'node:fs';
import { mkdir } from 'node:fs/promises';
import git, { type GitAuth, type WalkerEntry } from 'isomorphic-git';
import {
  type Change,
  type Checkout,
  type GitEngine,
  GitFailed,
  maxReadBytes,
  type NewCommit,
  type Remote,
} from '../engine.ts';
import { isomorphicIgnoreRules } from '../work-tree/ignore-rules.ts';
import { findFile } from '../work-tree/tree-files.ts';
import { type ReadBefore, readWorkTree, rememberWorkTree, type TreeEntry } from '../work-tree/work-tree.ts';
import { gitHttp } from './git-http.ts';
import { told } from './isomorphic-faults.ts';
import { mergeTrees } from './isomorphic-merge.ts';

/** How far each look for a common ancestor goes back. */
const depths = [100, 1000, 2_147_483_647];
const nothing = { mode: '000000', oid: '0'.repeat(40) };

/** git in JavaScript: slower and hungrier than git itself, and there where no git is installed. The service runs it apart. */
export function isomorphicGit(): GitEngine {
  return {
    name: 'isomorphic',
    version: async () => `isomorphic-git ${git.version()}`,
    listBranches: async (remote, signal) => {
      const refs = await serverRefs(remote, signal, 'refs/heads/');
      return new Map(refs.map(({ ref, oid }) => [ref.replace('refs/heads/', ''), oid]));
    },
    open: async (remote, { gitDir, workTree }, signal) => {
      await mkdir(gitDir, { recursive: true, mode: 0o755 });
      await mkdir(workTree, { recursive: true, mode: 0o755 });
      await git.init({ fs, dir: workTree, gitdir: gitDir });
      await git.addRemote({ fs, gitdir: gitDir, remote: 'origin', url: remote.url });
      return checkoutIn(remote, gitDir, workTree, signal);
    },
  };
}

function speaking(remote: Remote, signal: AbortSignal | undefined) {
  const basic = Buffer.from(`x-access-token:${remote.token}`).toString('base64');
  const headers: Record<string, string> = remote.token === undefined ? {} : { Authorization: `Basic ${basic}` };
  // Asking again with other credentials would change nothing.
  const onAuthFailure = (): GitAuth => ({ cancel: true });
  return { http: gitHttp(remote, signal), url: remote.url, headers, onAuthFailure };
}

function serverRefs(remote: Remote, signal: AbortSignal | undefined, prefix: string) {
  return told(signal, async () => {
    const asked = speaking(remote, signal);
    const refs = await git.listServerRefs({ ...asked, prefix, protocolVersion: 2 });
    asked.http.assertWhole();
    return refs;
  });
}

function checkoutIn(remote: Remote, gitdir: string, dir: string, signal: AbortSignal | undefined): Checkout {
  const here = { fs, dir, gitdir };
  const there = () => ({ ...here, ...speaking(remote, signal), remote: 'origin' });
  const tell = <T>(act: () => Promise<T>) => told(signal, act);
  const branches = new Set<string>();
  let base = new Map<string, TreeEntry>();
  const before: ReadBefore = new Map();
  const fetchBranch = (branch: string, depth: number) =>
    tell(() => git.fetch({ ...there(), ref: branch, remoteRef: branch, singleBranch: true, tags: false, depth }));
  const folder = async (oid: string) => {
    const { tree } = await git.readTree({ ...here, oid });
    return new Map(tree.map((each) => [each.path, { mode: each.mode.replace(/^0/, ''), oid: each.oid }]));
  };
  const remoteHead = async (branch: string) =>
    (await serverRefs(remote, signal, `refs/heads/${branch}`)).find(({ ref }) => ref === `refs/heads/${branch}`)?.oid;
  const checkout: Checkout = {
    gitDir: gitdir,
    workTree: dir,
    fetch: async (branch) => {
      const head = await remoteHead(branch);
      if (head === undefined) return undefined;
      await fetchBranch(branch, 1);
      branches.add(branch);
      return head;
    },
    fetchCommit: (commit) =>
      git.readCommit({ ...here, oid: commit }).then(
        () => true,
        // The servers' protocol would allow it, the library does not: the branches' whole history has it or nobody.
        async () => {
          for (const branch of branches) await fetchBranch(branch, depths.at(-1) ?? 1);
          return git.readCommit({ ...here, oid: commit }).then(
            () => true,
            (error) => {
              if (error.code === 'NotFoundError') return false;
              throw error;
            },
          );
        },
      ),
    checkout: (commit) =>
      tell(async () => {
        await git.checkout({ ...here, ref: commit, force: true });
        base = await entriesOf(gitdir, commit);
      }),
    remember: () => rememberWorkTree({ workTree: dir, base, before }),
    snapshot: () => snapshot(dir, gitdir, base, before),
    treeOf: async (commit) => (await git.readCommit({ ...here, oid: commit })).commit.tree,
    changes: (from, to) => tell(() => changesBetween(gitdir, from, to)),
    readFile: (commit, path) =>
      tell(async () => {
        const found = await findFile(folder, (await git.readCommit({ ...here, oid: commit })).commit.tree, path);
        if (found === undefined) return undefined;
        const { blob } = await git.readBlob({ ...here, oid: found.oid });
        return blob.length > maxReadBytes ? 'too large' : Buffer.from(blob);
      }),
    readBlobs: (oids, maxBytes = Number.POSITIVE_INFINITY) =>
      tell(async () => {
        const blobs = new Map<string, Buffer>();
        for (const oid of oids) {
          const { blob } = await git.readBlob({ ...here, oid });
          if (blob.length <= maxBytes) blobs.set(oid, Buffer.from(blob));
        }
        return blobs;
      }),
    commit: (commit) => tell(() => writeCommit(gitdir, commit)),
    mergeBase: async (a, b) => {
      for (const depth of [0, ...depths]) {
        if (depth > 0) for (const branch of branches) await fetchBranch(branch, depth);
        const found: string[] = await git.findMergeBase({ ...here, oids: [a, b] }).catch(() => []);
        if (found[0] !== undefined) return found[0];
      }
      return undefined;
    },
    merge: async (ours, theirs) => {
      if ((await checkout.mergeBase(ours, theirs)) === undefined)
        throw new GitFailed('broken', 'git: the commits have no history in common');
      return tell(() => mergeTrees(gitdir, ours, theirs));
    },
    isAncestor: async (ancestor, commit) =>
      ancestor === commit || (await git.isDescendent({ ...here, oid: commit, ancestor, depth: -1 }).catch(() => false)),
    push: async (commit, branch) => {
      await git.writeRef({ ...here, ref: `refs/heads/${branch}`, value: commit, force: true });
      try {
        await tell(() => git.push({ ...there(), ref: branch, remoteRef: branch, force: false }));
      } catch (error) {
        if (signal?.aborted) throw error;
        // The answer may have got lost on its way: what the remote says now decides.
        if ((await remoteHead(branch).catch(() => undefined)) !== commit) throw error;
      }
    },
    renewToken: async (token) => {
      remote = { ...remote, token };
    },
    close: async () => {},
  };
  return checkout;
}

/** The tree of the work tree, read as every engine reads it. */
async function snapshot(
  dir: string,
  gitdir: string,
  base: Map<string, TreeEntry>,
  before: ReadBefore,
): Promise<string> {
  const ignored = isomorphicIgnoreRules(gitdir, dir);
  const found = await readWorkTree({ workTree: dir, gitDir: gitdir, base, isIgnored: ignored.ask, before }).finally(
    ignored.close,
  );
  const root: Folder = new Map();
  for (const [path, entry] of found) place(root, path, entry);
  return writeFolder(gitdir, root);
}

async function entriesOf(gitdir: string, commit: string): Promise<Map<string, TreeEntry>> {
  const entries = new Map<string, TreeEntry>();
  await git.walk({
    fs,
    gitdir,
    trees: [git.TREE({ ref: commit })],
    map: async (path, [entry]) => {
      const found = await leaf(entry);
      // The library knows names as text only; such a file would be renamed with the next commit.
      if (path.includes('\uFFFD'))
        throw new GitFailed('broken', `git: ${path} is no UTF-8; git in JavaScript cannot keep it, install git`);
      if (found !== nothing) entries.set(path, found);
      return path;
    },
  });
  return entries;
}

type Folder = Map<string, Folder | TreeEntry>;

function place(root: Folder, path: string, entry: TreeEntry): void {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  let folder = root;
  for (const part of parts) {
    const next = folder.get(part);
    const inner = next instanceof Map ? next : new Map();
    folder.set(part, inner);
    folder = inner;
  }
  folder.set(name, entry);
}

async function plain(entry: WalkerEntry): Promise<TreeEntry> {
  return { mode: (await entry.mode()).toString(8).padStart(6, '0'), oid: (await entry.oid()) ?? nothing.oid };
}

async function writeFolder(gitdir: string, folder: Folder): Promise<string> {
  const tree = [];
  for (const [path, item] of folder) {
    if (item instanceof Map)
      tree.push({ path, mode: '040000', type: 'tree' as const, oid: await writeFolder(gitdir, item) });
    else tree.push({ path, ...item, type: item.mode === '160000' ? ('commit' as const) : ('blob' as const) });
  }
  return git.writeTree({ fs, gitdir, tree });
}

async function changesBetween(gitdir: string, from: string, to: string): Promise<Change[]> {
  const changes: Change[] = [];
  await git.walk({
    fs,
    gitdir,
    trees: [git.TREE({ ref: from }), git.TREE({ ref: to })],
    map: async (path, [before, after]) => {
      // Equal trees hold no change, so their folders are not walked.
      if ((await before?.oid()) === (await after?.oid()) && (await before?.mode()) === (await after?.mode()))
        return null;
      const [old, now] = [await leaf(before), await leaf(after)];
      if (old !== nothing || now !== nothing)
        changes.push({ path, oldMode: old.mode, newMode: now.mode, oldOid: old.oid, newOid: now.oid });
      return path;
    },
  });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function leaf(entry: WalkerEntry | null | undefined): Promise<TreeEntry> {
  return entry && (await entry.type()) !== 'tree' ? plain(entry) : nothing;
}

function writeCommit(gitdir: string, { tree, parents, message, author, at }: NewCommit): Promise<string> {
  const person = { ...author, timestamp: Math.floor(at.getTime() / 1000), timezoneOffset: 0 };
  return git.writeCommit({ fs, gitdir, commit: { tree, parent: parents, message, author: person, committer: person } });
}
