import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Call, feedPush, gitIn } from './git/git-objects.ts';
import type { RareStates } from './rare-states.ts';

export interface PullLike {
  number?: number;
  state?: string;
  title?: string;
  draft?: boolean;
  mergeable?: boolean | null;
  mergeable_state?: string;
  head?: { ref: string; sha: string };
  base?: { ref: string; sha: string };
  additions?: number;
  deletions?: number;
  changed_files?: number;
}

type Size = Required<Pick<PullLike, 'additions' | 'deletions' | 'changed_files'>>;

interface ShownCommit {
  oid: string;
  message: string;
  authoredDate: string;
  parents: { nodes: { oid: string }[] };
}

const person = ['-c', 'user.name=GitHub', '-c', 'user.email=noreply@github.com'];
/** GitHub commits the merges that it makes, and names who asked for them as their author. */
const authorOf = ({ id, login }: { id: number; login: string }) => [
  ...person,
  ...['-c', `author.name=${login}`, '-c', `author.email=${id}+${login}@users.noreply.github.com`],
];

/**
 * Adds to the emulator's pull requests: the head follows its branch, `mergeable` depends on both branches, and a merge
 * combines their current commits.
 */
export class FrontPulls {
  private readonly folder: string;
  private readonly repo: string;
  /** Whether `mergeable` is null when a pull request is read for the first time after a push. */
  decidesLate = false;
  private readonly trees = new Map<string, Promise<string | undefined>>();
  private readonly sizes = new Map<string, Promise<Size>>();
  /** The size and the head of each pull request while it was open, which GitHub goes on to show. */
  private readonly lastSizes = new Map<number, Size>();
  private readonly lastHeads = new Map<number, string>();

  private readonly rare: RareStates;

  constructor(folder: string, repo: string, rare: RareStates) {
    this.rare = rare;
    this.folder = folder;
    this.repo = repo;
  }

  /** Adds the field by which GitHub marks an issue that is a pull request. */
  marked<I extends { number?: number }>(issue: I, isPull: boolean): I {
    return isPull ? { ...issue, pull_request: { url: `/repos/${this.repo}/pulls/${issue.number}` } } : issue;
  }

  /** Returns why GitHub refuses to create a pull request with 422: one of its branches does not exist. */
  async refusedPull(path: string, body = '{}'): Promise<object | undefined> {
    if (!/\/pulls$/.test(path)) return undefined;
    const asked = JSON.parse(body) as { head?: string; base?: string };
    const [owner] = this.repo.split('/');
    for (const field of ['head', 'base'] as const) {
      const [, of = owner, branch = ''] = /^(?:([^:]+):)?(.+)$/.exec(asked[field] ?? '') ?? [];
      if (of === owner && (await this.headOf(branch)) === undefined)
        return { message: 'Validation Failed', errors: [{ resource: 'PullRequest', field, code: 'invalid' }] };
    }
    const [head = '', base = ''] = [asked.head?.replace(`${owner}:`, ''), asked.base];
    if (!head.includes(':') && !(await this.haveCommonHistory(base, head))) {
      const message = `The ${base} branch has no history in common with ${head}`;
      return { message: 'Validation Failed', errors: [{ resource: 'PullRequest', code: 'custom', message }] };
    }
    return undefined;
  }

  private haveCommonHistory(base: string, head: string): Promise<boolean> {
    return gitIn(this.folder, ['merge-base', `refs/heads/${base}`, `refs/heads/${head}`]).then(
      () => true,
      () => false,
    );
  }

  /** Reads git's files directly, because starting git for each call would take most of the time. */
  private async headOf(branch: string): Promise<string | undefined> {
    const loose = await readFile(join(this.folder, 'refs/heads', branch), 'utf8').catch(() => undefined);
    if (loose !== undefined) return loose.trim();
    const found = await gitIn(this.folder, ['rev-parse', '--verify', '-q', `refs/heads/${branch}`]).catch(
      () => undefined,
    );
    return found?.toString('utf8').trim();
  }

  /** Returns the merged tree of both commits, or undefined when they conflict. */
  private joined(base: string, head: string): Promise<string | undefined> {
    const known = this.trees.get(`${base} ${head}`);
    if (known !== undefined) return known;
    const tree = gitIn(this.folder, ['merge-tree', '--write-tree', '--name-only', base, head]).then(
      (out) => out.toString('utf8').split('\n')[0],
      () => undefined,
    );
    this.trees.set(`${base} ${head}`, tree);
    return tree;
  }

  /** Counts the lines and files that a pull request changes. GitHub keeps the counts after the merge. */
  private sizeOf(base: string, head: string): Promise<Size> {
    const key = `${base} ${head}`;
    const size =
      this.sizes.get(key) ??
      gitIn(this.folder, ['diff', '--numstat', `${base}...${head}`]).then((out) => {
        const files = [...out.toString('utf8').matchAll(/^(\d+|-)\t(\d+|-)\t/gm)];
        const sumOf = (column: number) => files.reduce((sum, file) => sum + (Number(file[column]) || 0), 0);
        return { additions: sumOf(1), deletions: sumOf(2), changed_files: files.length };
      });
    this.sizes.set(key, size);
    return size;
  }

  private asItWas<P extends PullLike>(pull: P): P {
    const { number = 0, head } = pull;
    if (head) head.sha = this.lastHeads.get(number) ?? head.sha;
    return Object.assign(pull, this.lastSizes.get(number));
  }

  /** Updates the pull request to what GitHub would show now, and returns it. */
  async shown<P extends PullLike>(pull: P): Promise<P> {
    const { number = 0 } = pull;
    if (pull.state !== 'open' || !pull.head || !pull.base) return this.asItWas(pull);
    const [head, base] = [await this.headOf(pull.head.ref), await this.headOf(pull.base.ref)];
    if (head !== undefined) pull.head.sha = head;
    if (base !== undefined) pull.base.sha = base;
    if (head === undefined || base === undefined) return pull;
    // GitHub begins to look for conflicts when somebody reads the pull request.
    const isFirst = !this.trees.has(`${base} ${head}`);
    const tree = this.joined(base, head);
    const size = await this.sizeOf(base, head);
    this.lastSizes.set(number, size);
    this.lastHeads.set(number, head);
    Object.assign(pull, size);
    pull.mergeable = isFirst && this.decidesLate ? null : (await tree) !== undefined;
    if (pull.mergeable && (await this.isBehind(base, head))) pull.mergeable_state = 'behind';
    else if (pull.mergeable && this.rare.isBlocked) pull.mergeable_state = 'blocked';
    else if (pull.mergeable === false) pull.mergeable_state = 'dirty';
    return pull;
  }

  /** Commits that GitHub itself has made, and signed. */
  readonly signed = new Set<string>();

  /** Merges the base into the branch of a pull request, as "Update branch" does. Returns why GitHub refuses. */
  async update(
    pull: PullLike,
    expected: string | undefined,
    by: { id: number; login: string },
  ): Promise<string | undefined> {
    const { head, base } = await this.shown(pull);
    if (!head || !base) return 'Not Found';
    if (expected !== undefined && expected !== head.sha) return 'expected head sha didn’t match current head ref.';
    const isThere = await this.contains(head.sha, base.sha);
    if (isThere) return 'There are no new commits on the base branch.';
    const tree = await this.joined(base.sha, head.sha);
    if (tree === undefined) return 'merge conflict between base and head';
    const message = `Merge branch '${base.ref}' into ${head.ref}`;
    const parents = ['-p', head.sha, '-p', base.sha];
    const made = await gitIn(this.folder, [...authorOf(by), 'commit-tree', tree, ...parents, '-m', message]);
    const sha = made.toString('utf8').trim();
    this.signed.add(sha);
    await gitIn(this.folder, ['update-ref', `refs/heads/${head.ref}`, sha, head.sha]);
    return undefined;
  }

  /** What merged pull requests became: the last commit on the base branch, and their own commits, oldest first. */
  private readonly merged = new Map<number, { merge: string; commits: object[] }>();

  private async text(args: string[], input?: string): Promise<string> {
    return (await gitIn(this.folder, args, input)).toString('utf8').trim();
  }

  /** Copies the commits of a branch onto its base, one after the other, as GitHub's rebase does. Returns the last one. */
  private async rebased(base: string, head: string): Promise<string> {
    let onto = base;
    const listed = await this.text(['rev-list', '--reverse', '--no-merges', `${base}..${head}`]);
    for (const commit of listed.split('\n')) {
      const tree = await this.text(['merge-tree', '--write-tree', onto, commit]);
      const [, ...rest] = (await this.text(['cat-file', 'commit', commit])).split('\nauthor ');
      const [author = '', message = ''] = rest.join('\nauthor ').split(/\ncommitter .*\n/);
      const committer = `GitHub <noreply@github.com> ${Math.floor(Date.now() / 1000)} +0000`;
      const copy = `tree ${tree}\nparent ${onto}\nauthor ${author}\ncommitter ${committer}\n${message}\n`;
      onto = await this.text(['hash-object', '-w', '-t', 'commit', '--stdin'], copy);
    }
    return onto;
  }

  private async listCommits(...range: string[]): Promise<ShownCommit[]> {
    const listed = await this.text(['log', '-z', '--format=%H%x01%P%x01%aI%x01%B', ...range]);
    const all = listed.split('\0').filter((each) => each !== '');
    return all.map((each) => {
      const [oid = '', parents = '', at = '', message = ''] = each.split('\x01');
      const nodes = parents.split(' ').flatMap((id) => (id === '' ? [] : [{ oid: id }]));
      const authoredDate = new Date(at).toISOString().replace('.000Z', 'Z');
      return { oid, message: message.trimEnd(), authoredDate, parents: { nodes } };
    });
  }

  /** Returns which commit merged a pull request, as GitHub's GraphQL API shows it. */
  async mergeOf(number: number): Promise<object> {
    const found = this.merged.get(number);
    if (found === undefined) return { mergeCommit: null, commits: { totalCount: 0, nodes: [] } };
    const history = await this.listCommits('-n', '100', found.merge);
    const mergeCommit = { ...history[0], history: { nodes: history } };
    const nodes = found.commits.toReversed().map((commit) => ({ commit }));
    return { mergeCommit, commits: { totalCount: nodes.length, nodes } };
  }

  private contains(commit: string, ancestor: string): Promise<boolean> {
    return gitIn(this.folder, ['merge-base', '--is-ancestor', ancestor, commit]).then(
      () => true,
      () => false,
    );
  }

  /** Returns a commit and a branch, by its full name, as GitHub's GraphQL API shows them. */
  async commit(sha: string, branch: string): Promise<{ object: object | null; ref: object | null }> {
    const tip = await this.headOf(branch.replace(/^refs\/heads\//, ''));
    const ref = tip === undefined ? null : { target: { oid: tip } };
    const format = '--format=%P%x00%ae%x00%cn%x00%ce%x00%B';
    const shown = await gitIn(this.folder, ['show', '-s', format, sha]).catch(() => undefined);
    if (shown === undefined) return { object: null, ref };
    const [parents = '', author, name, email, text = ''] = shown.toString('utf8').split('\0');
    const signature = this.signed.has(sha) ? { isValid: true, wasSignedByGitHub: true } : null;
    const people = { author: { email: author }, committer: { name, email } };
    const nodes = parents.split(' ').map((oid) => ({ oid }));
    return { object: { message: text.trimEnd(), ...people, signature, parents: { nodes } }, ref };
  }

  /** Returns whether the base branch requires a branch to be up to date, and this one is not. */
  private async isBehind(base: string, head: string): Promise<boolean> {
    return this.rare.requires === 'up to date' && !(await this.contains(head, base));
  }

  /** Returns the diff of a file of a pull request. */
  async diffOf(listed: PullLike, file: string): Promise<string> {
    const pull = await this.shown(listed);
    if (!pull.head || !pull.base) return '';
    const range = `${pull.base.sha}...${pull.head.sha}`;
    return (await gitIn(this.folder, ['diff', '--no-color', range, '--', file])).toString('utf8');
  }

  /** Merges as GitHub does, using git. Returns GitHub's status and message if GitHub would refuse. */
  async merge(
    pull: PullLike,
    asked: { sha?: string; merge_method?: string },
    owner: Call,
    accept: () => Promise<void>,
  ): Promise<{ status: number; message: string } | undefined> {
    const { head, base, number = 0 } = await this.shown(pull);
    if (!head || !base) return { status: 404, message: 'Not Found' };
    if (asked.sha !== undefined && asked.sha !== head.sha)
      return { status: 409, message: 'Head branch was modified. Review and try the merge again.' };
    const tree = await this.joined(base.sha, head.sha);
    if (tree === undefined) return { status: 405, message: 'Pull Request is not mergeable' };
    // GitHub's words for a branch that is behind, although its checks may have succeeded.
    if (this.rare.isBlocked || (await this.isBehind(base.sha, head.sha)))
      return { status: 405, message: '1 of 1 required status checks are expected.' };
    const title = `${pull.title} (#${number})`;
    const parents = asked.merge_method === 'merge' ? ['-p', base.sha, '-p', head.sha] : ['-p', base.sha];
    const merge =
      asked.merge_method === 'rebase'
        ? await this.rebased(base.sha, head.sha)
        : await this.text([...person, 'commit-tree', tree, ...parents, '-m', title]);
    const commits = await this.listCommits(`${base.sha}..${head.sha}`);
    await accept();
    this.merged.set(number, { merge, commits });
    await gitIn(this.folder, ['update-ref', `refs/heads/${base.ref}`, merge]);
    await feedPush(this.folder, this.repo, owner);
    return undefined;
  }
}

/**
 * Merges a branch into another one, as `POST /repos/{owner}/{repo}/merges` does for the App. Returns the merge commit, or
 * GitHub's status and message where there is none.
 */
export async function mergeBranches(
  folder: string,
  { base = '', head = '', commit_message = `Merge ${head} into ${base}` }: Record<string, string>,
  by: { id: number; login: string },
): Promise<{ sha: string } | { status: 204 | 404 | 409; message: string }> {
  const commitOf = async (branch: string) =>
    gitIn(folder, ['rev-parse', '--verify', '-q', `refs/heads/${branch}`]).then(
      (out) => out.toString('utf8').trim(),
      () => undefined,
    );
  const [into, from] = [await commitOf(base), await commitOf(head)];
  if (into === undefined) return { status: 404, message: 'Base does not exist' };
  if (from === undefined) return { status: 404, message: 'Head does not exist' };
  const succeeds = (args: string[]) =>
    gitIn(folder, args).then(
      (out) => out.toString('utf8').split('\n')[0],
      () => undefined,
    );
  if ((await succeeds(['merge-base', '--is-ancestor', from, into])) !== undefined) return { status: 204, message: '' };
  const tree = await succeeds(['merge-tree', '--write-tree', '--name-only', into, from]);
  if (tree === undefined) return { status: 409, message: 'Merge conflict' };
  const made = await gitIn(folder, [
    ...authorOf(by),
    'commit-tree',
    tree,
    '-p',
    into,
    '-p',
    from,
    '-m',
    commit_message,
  ]);
  const sha = made.toString('utf8').trim();
  await gitIn(folder, ['update-ref', `refs/heads/${base}`, sha]);
  return { sha };
}

/** Closes the issues that a merged pull request says it closes, as GitHub does. `path` is the merge endpoint. */
export async function closeIssuesOf(path: string, call: Call): Promise<void> {
  const { body } = await call<{ body: string | null }>('GET', path.replace(/\/merge$/, ''));
  const repo = path.split('/').slice(2, 4).join('/');
  for (const [, number] of (body ?? '').matchAll(/\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?) #(\d+)/gi))
    await call('PATCH', `/repos/${repo}/issues/${number}`, { state: 'closed' });
}

/** GraphQL names bots without the end that REST gives their logins. */
function graphqlAuthor(login: string) {
  const isBot = login.endsWith('[bot]');
  return { __typename: isBot ? 'Bot' : 'User', login: login.replace(/\[bot\]$/, '') };
}

interface ReferringPull {
  number: number;
  html_url: string;
  body: string | null;
  user: { login: string };
  base: { repo: { id: number; full_name: string; private: boolean } };
}

/** Handles a GraphQL query of the service: the open pull requests whose texts close or mention an issue. */
export async function readReferences(
  { names, call }: { names: string[]; call(method: string, path: string, authorization: string): Promise<Response> },
  { authorization, body }: { authorization: string; body: string },
): Promise<{ status: number; json: unknown }> {
  const { owner, repo, number } = JSON.parse(body).variables as { owner: string; repo: string; number: number };
  const target = `${owner}/${repo}`;
  const nodes = [];
  for (const name of names) {
    // `#7` names an issue of the same repository; that of another one needs its name.
    const reference = `(?<![\\w/-])(?:${target}${name === target ? '|' : ''})#${number}\\b`;
    const closes = new RegExp(`\\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?) ${reference}`, 'i');
    const mentions = new RegExp(reference, 'i');
    const answer = await call('GET', `/repos/${name}/pulls?state=open&per_page=100`, authorization);
    for (const pull of answer.ok ? ((await answer.json()) as ReferringPull[]) : []) {
      if (!mentions.test(pull.body ?? '')) continue;
      const { id, full_name: nameWithOwner, private: isPrivate } = pull.base.repo;
      const source = {
        number: pull.number,
        url: pull.html_url,
        state: 'OPEN',
        author: graphqlAuthor(pull.user.login),
        repository: { databaseId: id, nameWithOwner, isPrivate },
      };
      nodes.push({ willCloseTarget: closes.test(pull.body ?? ''), source });
    }
  }
  const closing = nodes.filter(({ willCloseTarget }) => willCloseTarget).map(({ source }) => source);
  const issue = { closedByPullRequestsReferences: { nodes: closing }, timelineItems: { nodes } };
  return { status: 200, json: { data: { repository: { issue } } } };
}
