import { isUtf8 } from 'node:buffer';
import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import {
  type Change,
  type Checkout,
  type GitEngine,
  GitFailed,
  maxReadBytes,
  type NewCommit,
  type Remote,
} from './engine.ts';
import { gitIgnoreRules } from './ignore-rules.ts';
import { type GitRun, git, lines } from './run-git.ts';
import { type ReadBefore, readWorkTree, rememberWorkTree, type TreeEntry } from './work-tree.ts';

/** How much history a first fetch brings, and how far each look for a common ancestor goes back. */
const firstDepth = 1;
const deepenBy = [100, 1000, 2_147_483_647];

/** git as it is installed, cut off from every configuration but ours. */
export function nativeGit(): GitEngine {
  return {
    name: 'native',
    version: async () => (await git(['--version'], {})).toString('utf8').trim(),
    listBranches: async (remote, signal) => {
      const out = await git(['ls-remote', '--heads', '--', remote.url], { remote, signal });
      if (out.length === 0) await assertGitServer(remote, signal);
      return new Map(
        lines(out.toString('utf8')).map((line) => {
          const [sha = '', ref = ''] = line.split('\t');
          return [ref.replace('refs/heads/', ''), sha];
        }),
      );
    },
    open: async (remote, { gitDir, workTree }, signal) => {
      await mkdir(gitDir, { recursive: true, mode: 0o755 });
      await mkdir(workTree, { recursive: true, mode: 0o755 });
      await git(['init', '--quiet', '--bare', gitDir], { signal });
      // Inside the sandbox the folder is mounted as .git, where `git status` should work.
      await appendFile(`${gitDir}/config`, '[core]\n\tbare = false\n');
      // Before every .gitattributes: contents come and go as they are, through no filter and no conversion.
      await mkdir(`${gitDir}/info`, { recursive: true });
      await writeFile(`${gitDir}/info/attributes`, '* -text !eol -ident -filter -working-tree-encoding\n');
      return checkoutIn(remote, gitDir, workTree, signal);
    },
  };
}

/** git takes any page for an empty repository of the old, dumb protocol; the headers tell a git server from one. */
async function assertGitServer(remote: Remote, signal: AbortSignal | undefined): Promise<void> {
  const env = { GIT_TRACE_CURL: '1', GIT_TRACE_CURL_NO_DATA: '1' };
  let headers = '';
  await git(['ls-remote', '--', remote.url], { remote, signal, env, heard: (text) => (headers += text) });
  if (!/content-type: application\/x-git-upload-pack-advertisement/i.test(headers))
    throw new GitFailed('broken', 'git: the answer is not that of a git server');
}

function checkoutIn(remote: Remote, gitDir: string, workTree: string, signal: AbortSignal | undefined): Checkout {
  const here = async (args: string[], more: GitRun = {}) =>
    git([`--git-dir=${gitDir}`, `--work-tree=${workTree}`, ...args], { signal, ...more });
  const line = async (args: string[], more: GitRun = {}) => (await here(args, more)).toString('utf8').trim();
  const bare = (args: string[], more: GitRun = {}) => git([`--git-dir=${gitDir}`, ...args], { signal, ...more });
  const entriesOf = async (commit: string) => parseTree(await bare(['ls-tree', '-r', '-z', '--full-tree', commit]));
  let base = new Map<string, TreeEntry>();
  const before: ReadBefore = new Map();
  const branches = new Set<string>();
  const trees = new Map<string, string>();
  const fetched = (depth: string) => {
    const specs = [...branches].map((b) => `+refs/heads/${b}:refs/remotes/origin/${b}`);
    return here(['fetch', '--quiet', '--no-tags', depth, '--', remote.url, ...specs], { remote });
  };
  const checkout: Checkout = {
    gitDir,
    workTree,
    fetch: async (branch) => {
      const spec = `+refs/heads/${branch}:refs/remotes/origin/${branch}`;
      try {
        await here(['fetch', '--quiet', '--no-tags', `--depth=${firstDepth}`, '--', remote.url, spec], { remote });
      } catch (error) {
        if (error instanceof GitFailed && /couldn't find remote ref/.test(error.message)) return undefined;
        throw error;
      }
      branches.add(branch);
      const [commit] = (await readFile(`${gitDir}/FETCH_HEAD`, 'utf8')).split('\t');
      return commit;
    },
    fetchCommit: async (commit) =>
      here(['fetch', '--quiet', '--no-tags', `--depth=${firstDepth}`, '--', remote.url, commit], { remote }).then(
        () => true,
        () => false,
      ),
    checkout: async (commit) => {
      await here(['checkout', '--quiet', '--force', '--detach', commit]);
      base = await entriesOf(commit);
    },
    remember: () => rememberWorkTree({ workTree, base, before }),
    snapshot: async () => {
      const ignored = gitIgnoreRules(gitDir, workTree);
      try {
        const found = await readWorkTree({ workTree, gitDir, base, isIgnored: ignored.ask, before });
        // A copy of what checkout left, which nobody else can write: git never looks at the work tree for it. What is no
        // UTF-8 cannot be spoken of here and stays as it is.
        const env = { GIT_INDEX_FILE: `${gitDir}/snapshot.index` };
        await copyFile(`${gitDir}/index`, env.GIT_INDEX_FILE);
        const gone = [...base.keys()].filter((path) => !found.has(path));
        const changed = [...found].filter(([path, { mode, oid }]) => !isSame(base.get(path), mode, oid));
        const lines = [
          ...gone.map((path) => `0 ${'0'.repeat(40)}\t${path}\0`),
          ...changed.map(([path, { mode, oid }]) => `${mode} ${oid}\t${path}\0`),
        ];
        if (lines.length > 0)
          await bare(['update-index', '-z', '--add', '--replace', '--index-info'], { env, input: lines.join('') });
        return (await bare(['write-tree'], { env })).toString('utf8').trim();
      } finally {
        ignored.close();
      }
    },
    treeOf: async (commit) => {
      const tree = trees.get(commit) ?? (await line(['rev-parse', `${commit}^{tree}`]));
      trees.set(commit, tree);
      return tree;
    },
    changes: async (from, to) =>
      parseRaw(
        (await here(['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index', from, to])).toString('utf8'),
      ),
    readFile: async (commit, path) => {
      const entry = await line(['ls-tree', '-l', '--full-tree', commit, '--', path]).catch(() => '');
      const [, kind, oid = '', size] = /^\d+ (\w+) (\w+) +(\d+|-)\t/.exec(entry) ?? [];
      if (kind !== 'blob' || Number(size) > maxReadBytes) return undefined;
      return bare(['cat-file', 'blob', oid]);
    },
    readBlobs: async (oids) =>
      oids.length === 0
        ? new Map()
        : parseBatch(await bare(['cat-file', '--batch'], { input: `${oids.join('\n')}\n` })),
    commit: (commit) => line(commitArguments(commit), { input: commit.message, env: authorship(commit) }),
    mergeBase: async (a, b) => {
      for (const deepen of [0, ...deepenBy]) {
        if (deepen > 0) await fetched(`--deepen=${deepen}`);
        const base = await line(['merge-base', a, b]).catch(() => '');
        if (base !== '') return base;
      }
      return undefined;
    },
    merge: async (ours, theirs) => {
      if ((await checkout.mergeBase(ours, theirs)) === undefined)
        throw new GitFailed('broken', 'git: the commits have no history in common');
      const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', ours, theirs];
      const [tree = '', ...conflicts] = (await bare(args, { accept: [1] })).toString('utf8').split('\0');
      return { tree, conflicts: conflicts.filter((path) => path !== '') };
    },
    isAncestor: (ancestor, commit) =>
      here(['merge-base', '--is-ancestor', ancestor, commit]).then(
        () => true,
        () => false,
      ),
    push: async (commit, branch) => {
      const ref = `refs/heads/${branch}`;
      try {
        await here(['push', '--quiet', '--no-verify', '--', remote.url, `${commit}:${ref}`], { remote });
      } catch (error) {
        if (signal?.aborted) throw error;
        // The answer may have got lost on its way: what the remote says now decides.
        const now = await here(['ls-remote', '--', remote.url, ref], { remote }).catch(() => Buffer.alloc(0));
        if (!now.toString('utf8').startsWith(commit)) throw error;
      }
    },
    renewToken: async (token) => {
      remote = { ...remote, token };
    },
    close: async () => {},
  };
  return checkout;
}

function commitArguments({ tree, parents }: NewCommit): string[] {
  return ['commit-tree', tree, ...parents.flatMap((p) => ['-p', p]), '-F', '-'];
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

/** `100644 blob <oid>\tpath\0…`; without the names that are no UTF-8, which cannot be spoken of in JSON. */
function parseTree(listing: Buffer): Map<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < listing.length; ) {
    const [tab, end] = [listing.indexOf('\t', at), listing.indexOf(0, at)];
    const [mode = '', , oid = ''] = listing.toString('latin1', at, tab).split(' ');
    const name = listing.subarray(tab + 1, end);
    if (isUtf8(name)) entries.set(name.toString('utf8'), { mode, oid });
    at = end + 1;
  }
  return entries;
}

function isSame(entry: TreeEntry | undefined, mode: string, oid: string): boolean {
  return entry?.mode === mode && entry.oid === oid;
}

/** `<oid> blob <size>\n<content>\n…` */
function parseBatch(out: Buffer): Map<string, Buffer> {
  const blobs = new Map<string, Buffer>();
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf('\n', at);
    const [oid = '', kind, size] = out.toString('utf8', at, end).split(' ');
    if (kind !== 'blob') throw new GitFailed('broken', `git: object ${oid} is ${kind}`);
    blobs.set(oid, out.subarray(end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return blobs;
}

/** `:100644 100644 <old> <new> M\0path\0…` */
function parseRaw(raw: string): Change[] {
  const parts = raw.split('\0');
  const changes: Change[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = (parts[i] ?? '').slice(1).split(' ');
    changes.push({ path: parts[i + 1] ?? '', oldMode, newMode, oldOid, newOid });
  }
  return changes;
}
