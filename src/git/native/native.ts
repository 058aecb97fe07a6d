import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import {
  type Change,
  type Checkout,
  type GitEngine,
  GitFailed,
  maxReadBytes,
  type NewCommit,
  type Remote,
} from '../engine.ts';
import { roomIn } from '../guarded.ts';
import { inPortions } from '../portions.ts';
import { gitIgnoreRules } from '../work-tree/ignore-rules.ts';
import { allFiles, findFile } from '../work-tree/tree-files.ts';
import { type ReadBefore, readWorkTree, rememberWorkTree, type TreeEntry } from '../work-tree/work-tree.ts';
import { lines } from './explain.ts';
import { objectReader } from './object-reader.ts';
import { type GitRun, git } from './run-git.ts';

/** Enough for about 100,000 branches. */
const listing = { maxBytes: 8_000_000, room: { memoryBytes: 256_000_000, fileBytes: 0 } };
/** How much history a first fetch brings, and how far each look for a common ancestor goes back. */
const firstDepth = 1;
/** Names that git would leave out without a word are refused by name before the push (core.protectHFS, core.protectNTFS). */
const everyName = ['-c', 'core.protectHFS=false', '-c', 'core.protectNTFS=false'];
/** So many are remembered of the differences between two trees. */
const maxDifferences = 8;
const deepenBy = [100, 1000, 2_147_483_647];

/** git as it is installed, cut off from every configuration but ours. */
export function nativeGit(): GitEngine {
  return {
    name: 'native',
    version: async () => (await git(['--version'], {})).toString('utf8').trim(),
    listBranches: async (remote, signal) => {
      const out = await git(['ls-remote', '--heads', '--', remote.url], { remote, signal, ...listing });
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

function checkoutIn(remote: Remote, gitDir: string, workTree: string, signal: AbortSignal | undefined): Checkout {
  const here = async (args: string[], more: GitRun = {}) =>
    git([`--git-dir=${gitDir}`, `--work-tree=${workTree}`, ...args], { signal, ...more });
  const line = async (args: string[], more: GitRun = {}) => (await here(args, more)).toString('utf8').trim();
  const bare = (args: string[], more: GitRun = {}) => git([`--git-dir=${gitDir}`, ...args], { signal, ...more });
  const objects = objectReader(gitDir, signal);
  let base = new Map<string, TreeEntry>();
  const before: ReadBefore = new Map();
  const branches = new Set<string>();
  const differences = new Map<string, Change[]>();
  let lastSnapshot: { input: string; tree: string } | undefined;
  const changes = async (from: string, to: string) => {
    const pair = `${from} ${to}`;
    const known = differences.get(pair);
    if (known !== undefined) return known;
    const out = await bare(['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index', from, to]);
    const found = await parseRaw(out);
    // The end of a run asks for the same ones again and again; a long run has many others before it.
    if (differences.size >= maxDifferences) differences.clear();
    differences.set(pair, found);
    return found;
  };
  const fetchInto = async (depth: string, ...specs: string[]) =>
    here(['fetch', '--quiet', '--no-tags', depth, '--', remote.url, ...specs], { remote, room: await roomIn(gitDir) });
  const deepened = (depth: string) =>
    fetchInto(depth, ...[...branches].map((b) => `+refs/heads/${b}:refs/remotes/origin/${b}`));
  const checkout: Checkout = {
    gitDir,
    workTree,
    fetch: async (branch) => {
      const spec = `+refs/heads/${branch}:refs/remotes/origin/${branch}`;
      try {
        await fetchInto(`--depth=${firstDepth}`, spec);
        // What was there before may be gone with a cache that was no good.
        objects.forget();
      } catch (error) {
        if (error instanceof GitFailed && /couldn't find remote ref/.test(error.message)) return undefined;
        throw error;
      }
      branches.add(branch);
      const [commit] = (await readFile(`${gitDir}/FETCH_HEAD`, 'utf8')).split('\t');
      return commit;
    },
    fetchCommit: async (commit) => {
      try {
        await fetchInto(`--depth=${firstDepth}`, commit);
        return true;
      } catch (error) {
        if (error instanceof GitFailed && /not our ref|unadvertised object/.test(error.message)) return false;
        throw error;
      }
    },
    checkout: async (commit) => {
      // First, because it tells how many there are.
      const entries = await allFiles(objects.folder, await objects.treeOf(commit));
      await here(['checkout', '--quiet', '--force', '--detach', commit]);
      base = entries;
      lastSnapshot = undefined;
    },
    remember: () => rememberWorkTree({ workTree, base, before }),
    snapshot: async () => {
      const ignored = gitIgnoreRules(gitDir, workTree);
      try {
        const found = await readWorkTree({ workTree, gitDir, base, isIgnored: ignored.ask, before });
        // A copy of what checkout left, which nobody else can write: git never looks at the work tree for it. What is no
        // UTF-8 cannot be spoken of here and stays as it is.
        const env = { GIT_INDEX_FILE: `${gitDir}/snapshot.index` };
        const entries: string[] = [];
        await inPortions(base.keys(), (path) => {
          if (!found.has(path)) entries.push(`0 ${'0'.repeat(40)}\t${path}\0`);
        });
        await inPortions(found, ([path, { mode, oid }]) => {
          if (!isSame(base.get(path), mode, oid)) entries.push(`${mode} ${oid}\t${path}\0`);
        });
        const input = entries.join('');
        if (lastSnapshot?.input === input) return lastSnapshot.tree;
        await copyFile(`${gitDir}/index`, env.GIT_INDEX_FILE);
        if (input !== '')
          await bare([...everyName, 'update-index', '-z', '--add', '--replace', '--index-info'], { env, input });
        const tree = (await bare(['write-tree'], { env })).toString('utf8').trim();
        lastSnapshot = { input, tree };
        return tree;
      } finally {
        ignored.close();
      }
    },
    treeOf: objects.treeOf,
    changes,
    readFile: async (commit, path) => {
      const found = await findFile(objects.folder, await objects.treeOf(commit), path);
      if (found === undefined) return undefined;
      return (await objects.size(found.oid)) > maxReadBytes ? 'too large' : objects.blob(found.oid);
    },
    readBlobs: async (oids, maxBytes = Number.POSITIVE_INFINITY) => {
      const read = async (oid: string) => ((await objects.size(oid)) > maxBytes ? undefined : objects.blob(oid));
      const contents = await Promise.all(oids.map(async (oid) => [oid, await read(oid)] as const));
      return new Map(contents.filter((each): each is [string, Buffer] => each[1] !== undefined));
    },
    commit: (commit) => line(commitArguments(commit), { input: commit.message, env: authorship(commit) }),
    mergeBase: async (a, b) => {
      for (const deepen of [0, ...deepenBy]) {
        if (deepen > 0) await deepened(`--deepen=${deepen}`);
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
      bare(['merge-base', '--is-ancestor', ancestor, commit]).then(
        () => true,
        (error) => {
          // Also of a commit that is not here.
          if (error instanceof GitFailed) return false;
          throw error;
        },
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
    close: async () => objects.close(),
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

function isSame(entry: TreeEntry | undefined, mode: string, oid: string): boolean {
  return entry?.mode === mode && entry.oid === oid;
}

/** `:100644 100644 <old> <new> M\0path\0…` */
async function parseRaw(raw: Buffer): Promise<Change[]> {
  const changes: Change[] = [];
  await inPortions(partsOf(raw), ([meta, path]) => {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = meta.slice(1).split(' ');
    changes.push({ path, oldMode, newMode, oldOid, newOid });
  });
  return changes;
}

function* partsOf(raw: Buffer): Generator<[string, string]> {
  for (let at = 0; at < raw.length; ) {
    const middle = raw.indexOf(0, at);
    const end = raw.indexOf(0, middle + 1);
    yield [raw.toString('latin1', at, middle), raw.toString('utf8', middle + 1, end)];
    at = end + 1;
  }
}
