import { runInSmallProcess } from './small-process.ts';

/** Calls the emulator's API and returns the parsed JSON. @throws Error when the call fails */
export type Call = <T>(method: string, path: string, body?: object) => Promise<T>;

/** Runs git in a bare repository, without the machine's git configuration. */
export async function gitIn(folder: string, args: string[], input?: string | Buffer): Promise<Buffer> {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const all = ['-c', 'safe.directory=*', '-C', folder, ...args];
  const { output, problem } = await runInSmallProcess('git', all, { env }, input);
  if (problem !== undefined) throw new Error(problem);
  return output;
}

async function gitText(folder: string, args: string[], input?: string | Buffer): Promise<string> {
  return (await gitIn(folder, args, input)).toString('utf8').trim();
}

/** Returns the names of the branches, newest commit first. */
export async function branchesIn(folder: string): Promise<string[]> {
  const asked = ['for-each-ref', '--format=%(refname:short)', '--sort=-committerdate', 'refs/heads'];
  return (await gitText(folder, asked)).split('\n');
}

/** Returns the commits of the branches, by ref. */
export async function refsOf(folder: string): Promise<Map<string, string>> {
  const out = await gitText(folder, ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads']);
  return new Map(
    out
      .split('\n')
      .filter(Boolean)
      .map((l) => l.split(' ') as [string, string]),
  );
}

/**
 * Makes the emulator's branches equal to git's: copies missing objects through its git data API, then moves the refs.
 */
export async function feedPush(folder: string, repo: string, call: Call): Promise<void> {
  const known = await emulatorRefs(repo, call);
  const now = await refsOf(folder);
  for (const [ref, sha] of now) {
    if (known.get(ref) === sha) continue;
    await feedCommits(folder, repo, [sha, ...(await exceptions(folder, [...known.values()]))], call);
    if (known.has(ref)) await call('PATCH', `/repos/${repo}/git/${ref}`, { sha, force: true });
    else await call('POST', `/repos/${repo}/git/refs`, { ref, sha });
    known.set(ref, sha);
  }
  for (const ref of known.keys()) if (!now.has(ref)) await call('DELETE', `/repos/${repo}/git/${ref}`);
}

/**
 * Copies what was pushed to refs that are no branches, because commits can be made of it. The refs themselves are not copied.
 */
export async function feedOthers(folder: string, repo: string, call: Call): Promise<void> {
  const listed = await gitText(folder, ['for-each-ref', '--format=%(refname) %(objectname)']);
  const others = listed.split('\n').flatMap((line) => /^refs\/(?!heads\/|tags\/)\S+ (\S+)$/.exec(line)?.[1] ?? []);
  if (others.length === 0) return;
  const known = [...(await emulatorRefs(repo, call)).values()];
  for (const sha of others) await feedCommits(folder, repo, [sha, ...(await exceptions(folder, known))], call);
}

/** Returns the arguments that leave out what these commits contain. */
async function exceptions(folder: string, shas: string[]): Promise<string[]> {
  // The bare repository lacks the merge commits that the emulator creates.
  const listed = await gitText(folder, ['cat-file', '--batch-check=%(objecttype) %(objectname)'], shas.join('\n'));
  const have = listed.split('\n').flatMap((line) => /^commit (\S+)$/.exec(line)?.[1] ?? []);
  return have.length > 0 ? ['--not', ...have] : [];
}

/** Copies the commits of a range, oldest first, and the files that only they contain. */
async function feedCommits(folder: string, repo: string, range: string[], call: Call): Promise<void> {
  const listed = async (...args: string[]) =>
    (await gitText(folder, ['rev-list', ...args, ...range])).split('\n').filter(Boolean);
  const objects = (await listed('--objects')).map((line) => line.split(' ')[0] ?? '');
  for (const content of await readBlobs(folder, objects))
    await call('POST', `/repos/${repo}/git/blobs`, { content: content.toString('base64'), encoding: 'base64' });
  for (const commit of await listed('--reverse', '--topo-order')) await feedCommit(folder, repo, commit, call);
}

/** Returns the contents of those objects that are files. */
async function readBlobs(folder: string, objects: string[]): Promise<Buffer[]> {
  const answer = await gitIn(folder, ['cat-file', '--batch'], objects.join('\n'));
  const blobs: Buffer[] = [];
  // Each object is preceded by a line with its name, type and size, and followed by a line break.
  for (let at = 0; at < answer.length; ) {
    const end = answer.indexOf('\n', at);
    const [, type, size] = answer.toString('latin1', at, end).split(' ');
    at = end + 1 + Number(size) + 1;
    if (type === 'blob') blobs.push(answer.subarray(end + 1, at - 1));
  }
  return blobs;
}

async function feedCommit(folder: string, repo: string, commit: string, call: Call): Promise<void> {
  const listing = (await gitIn(folder, ['ls-tree', '-r', '-z', commit])).toString('utf8');
  const tree = listing
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const [meta = '', path = ''] = entry.split('\t');
      const [mode = '', type = '', sha = ''] = meta.split(' ');
      return { path, mode, type, sha };
    });
  const made = await call<{ sha: string }>('POST', `/repos/${repo}/git/trees`, { tree });
  const format = '%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B';
  const shown = await gitIn(folder, ['show', '-s', `--format=${format}`, commit]);
  const [parents = '', an = '', ae = '', ad = '', cn = '', ce = '', cd = '', ...rest] = shown
    .toString('utf8')
    .split('\0');
  const stored = await call<{ sha: string }>('POST', `/repos/${repo}/git/commits`, {
    message: rest.join('\0').replace(/\n$/, ''),
    tree: made.sha,
    parents: parents.split(' ').filter(Boolean),
    author: { name: an, email: ae, date: ad },
    committer: { name: cn, email: ce, date: cd },
  });
  if (stored.sha !== commit) throw new Error(`the emulator stored commit ${commit} as ${stored.sha}`);
}

async function emulatorRefs(repo: string, call: Call): Promise<Map<string, string>> {
  const refs = await call<{ ref: string; object: { sha: string } }[]>('GET', `/repos/${repo}/git/matching-refs/heads`);
  return new Map(refs.map((r) => [r.ref, r.object.sha]));
}

interface ApiCommit {
  sha: string;
  message: string;
  tree: { sha: string };
  parents: { sha: string }[];
  author: { name: string; email: string; date: string };
  committer: { name: string; email: string; date: string };
}

/** Copies branches that the emulator has moved, for example by a merge through its API, into the bare repository. */
export async function pullRefs(folder: string, repo: string, call: Call): Promise<void> {
  const mine = await refsOf(folder);
  for (const [ref, sha] of await emulatorRefs(repo, call)) {
    if (mine.get(ref) === sha) continue;
    await pullCommit(folder, repo, sha, call);
    await gitIn(folder, ['update-ref', ref, sha]);
  }
}

async function has(folder: string, sha: string): Promise<boolean> {
  return gitIn(folder, ['cat-file', '-e', sha]).then(
    () => true,
    () => false,
  );
}

/** Copies a commit that the emulator has, with its files and ancestors. */
export async function pullCommit(folder: string, repo: string, sha: string, call: Call): Promise<void> {
  if (await has(folder, sha)) return;
  const commit = await call<ApiCommit>('GET', `/repos/${repo}/git/commits/${sha}`);
  for (const parent of commit.parents) await pullCommit(folder, repo, parent.sha, call);
  await pullTree(folder, repo, commit.tree.sha, call);
  const person = ({ name, email, date }: ApiCommit['author']) =>
    `${name} <${email}> ${Math.floor(Date.parse(date) / 1000)} +0000`;
  const text = [
    `tree ${commit.tree.sha}`,
    ...commit.parents.map((p) => `parent ${p.sha}`),
    `author ${person(commit.author)}`,
    `committer ${person(commit.committer)}`,
    '',
    commit.message,
  ].join('\n');
  const made = await gitText(folder, ['hash-object', '-w', '-t', 'commit', '--stdin'], text);
  if (made !== sha) throw new Error(`git stored the emulator's commit ${sha} as ${made}`);
}

async function pullTree(folder: string, repo: string, sha: string, call: Call): Promise<void> {
  if (await has(folder, sha)) return;
  const { tree } = await call<{ tree: { path: string; mode: string; type: string; sha: string }[] }>(
    'GET',
    `/repos/${repo}/git/trees/${sha}`,
  );
  for (const entry of tree) {
    if (entry.type === 'tree') await pullTree(folder, repo, entry.sha, call);
    else if (!(await has(folder, entry.sha))) {
      const blob = await call<{ content: string }>('GET', `/repos/${repo}/git/blobs/${entry.sha}`);
      await gitIn(folder, ['hash-object', '-w', '--stdin'], Buffer.from(blob.content, 'base64'));
    }
  }
  const lines = tree.map((e) => `${e.mode.padStart(6, '0')} ${e.type} ${e.sha}\t${e.path}\0`).join('');
  await gitIn(folder, ['mktree', '-z'], lines);
}
