import type { FrontPulls, PullLike } from './front-pulls.ts';
import type { Call } from './git/git-objects.ts';
import type { RareStates } from './rare-states.ts';

/** What the service asks of a pull request over GraphQL. */
interface Asked {
  query: string;
  variables: {
    owner?: string;
    repo?: string;
    number?: number;
    id?: string;
    headSha?: string;
    mergeMethod?: string;
    sha?: string;
    base?: string;
  };
}

interface Merge {
  name: string;
  number: number;
  autoMerge?: undefined | { at: string; method: string };
  queuedAt?: string | undefined;
  /** When it was taken from the queue, or auto-merge was turned off, for the last time. */
  ended?: object;
}

/** What the merges need of the front. */
interface Around {
  rare: RareStates;
  names(): string[];
  pullsOf(name: string): FrontPulls;
  /** Calls the API with all permissions. */
  owner: Call;
  /** Sends an event about a repository. */
  tell(name: string, event: string, payload: object): Promise<void>;
  /** Runs work that moves branches, one at a time, and tells of it. */
  moving<T>(name: string, work: () => Promise<T>): Promise<T>;
}

const unprocessable = (message: string) => ({ data: null, errors: [{ type: 'UNPROCESSABLE', message }] });
const now = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

/** GitHub's auto-merge and its merge queue, which the emulator lacks. */
export class FrontMerges {
  private readonly around: Around;
  private readonly all = new Map<string, Merge>();

  constructor(around: Around) {
    this.around = around;
  }

  /** Adds what GitHub's REST API shows of auto-merge; it shows nothing of the queue. The App is who asks for it here. */
  show(name: string, pull: PullLike & { title?: string; user?: object; auto_merge?: object | null }): void {
    const { autoMerge } = this.of(name, pull.number ?? 0);
    const merge_method = autoMerge?.method.toLowerCase();
    pull.auto_merge =
      merge_method === undefined
        ? null
        : {
            enabled_by: pull.user,
            merge_method,
            commit_title: `${pull.title} (#${pull.number})`,
            commit_message: '',
          };
  }

  /** Answers what the service asks about merges; undefined for everything else. */
  async answer(body: string): Promise<object | undefined> {
    const asked = JSON.parse(body) as Asked;
    const { query, variables } = asked;
    if (query.includes('object(oid:')) return this.commit(variables as CommitAsked);
    if (query.includes('mergeQueueEntry {') && query.startsWith('query'))
      return this.read(variables as { owner: string; repo: string; number: number });
    if (query.includes('mergeCommit {'))
      return this.merged(variables as { owner: string; repo: string; number: number });
    if (query.includes('statusCheckRollup')) return { data: { repository: { pullRequest: this.required() } } };
    const [act] = /(enable|disable)PullRequestAutoMerge|(en|de)queuePullRequest/.exec(query) ?? [];
    return act === undefined ? undefined : this.mutate(act, variables);
  }

  private async merged({ owner, repo, number }: { owner: string; repo: string; number: number }): Promise<object> {
    const pullRequest = await this.around.pullsOf(`${owner}/${repo}`).mergeOf(number);
    return { data: { repository: { pullRequest } } };
  }

  /** What is missing while something is: a review. */
  private required(): object {
    return { reviewDecision: this.around.rare.isBlocked ? 'REVIEW_REQUIRED' : null, commits: { nodes: [] } };
  }

  private of(name: string, number: number): Merge {
    const key = `${name}#${number}`;
    const merge = this.all.get(key) ?? { name, number };
    this.all.set(key, merge);
    return merge;
  }

  private async pull(name: string, number: number): Promise<Pull> {
    return this.around.owner<Pull>('GET', `/repos/${name}/pulls/${number}`);
  }

  private async read({ owner, repo, number }: { owner: string; repo: string; number: number }): Promise<object> {
    const pull = await this.pull(`${owner}/${repo}`, number);
    const { autoMerge, queuedAt, ended } = this.of(`${owner}/${repo}`, number);
    const pullRequest = {
      id: pull.node_id,
      headRefOid: pull.head.sha,
      baseRefName: pull.base.ref,
      mergeStateStatus: pull.mergeable_state.toUpperCase(),
      isMergeQueueEnabled: this.around.rare.requires === 'queue',
      autoMergeRequest: autoMerge === undefined ? null : { enabledAt: autoMerge.at },
      mergeQueueEntry: queuedAt === undefined ? null : { enqueuedAt: queuedAt, state: 'AWAITING_CHECKS' },
      timelineItems: { nodes: ended === undefined ? [] : [ended] },
    };
    return { data: { repository: { pullRequest } } };
  }

  private async mutate(act: string, { id, headSha, mergeMethod }: Asked['variables']): Promise<object> {
    const found = await this.find(id ?? '');
    if (found === undefined)
      return { data: null, errors: [{ type: 'NOT_FOUND', message: 'Could not resolve to a node' }] };
    const { merge, pull } = found;
    const refusal = this.refusal(act, pull, headSha);
    if (refusal !== undefined) return unprocessable(refusal);
    const { number } = merge;
    const told = { number, pull_request: pull };
    switch (act) {
      case 'enablePullRequestAutoMerge':
        merge.autoMerge = { at: now(), method: mergeMethod ?? 'MERGE' };
        await this.tell(merge.name, { action: 'auto_merge_enabled', ...told });
        return { data: { [act]: { pullRequest: { id } } } };
      case 'disablePullRequestAutoMerge':
        await this.disable(merge, pull);
        break;
      case 'enqueuePullRequest':
        merge.queuedAt = now();
        await this.tell(merge.name, { action: 'enqueued', ...told });
        return { data: { [act]: { mergeQueueEntry: { id: `MQE_${number}` } } } };
      case 'dequeuePullRequest':
        await this.dequeue(merge.name, number, 'MANUAL');
    }
    return { data: { [act]: { clientMutationId: null } } };
  }

  /** GitHub's words; the doubled name of the field is its own. */
  private refusal(act: string, pull: Pull, headSha: string | undefined): string | undefined {
    const { requires, allowsAutoMerge } = this.around.rare;
    if (headSha !== undefined && headSha !== pull.head.sha) return 'Head sha does not match the expected head sha';
    if (act === 'enablePullRequestAutoMerge') {
      if (!allowsAutoMerge) return 'Auto merge is not allowed for this repository';
      if (['clean', 'unstable'].includes(pull.mergeable_state) && requires !== 'queue')
        return `Pull request Pull request is in ${pull.mergeable_state} status`;
    }
    if (act === 'enqueuePullRequest' && requires !== 'queue') return 'The merge queue is not enabled for this branch';
    if (act === 'enqueuePullRequest' && pull.mergeable_state !== 'clean') return 'Pull request is not mergeable';
    return undefined;
  }

  private async disable(merge: Merge, pull: Pull): Promise<void> {
    merge.autoMerge = undefined;
    merge.ended = { __typename: 'AutoMergeDisabledEvent', createdAt: now(), reason: null };
    const { name, number } = merge;
    await this.tell(name, { action: 'auto_merge_disabled', number, pull_request: pull, reason: '' });
  }

  private async find(id: string): Promise<{ merge: Merge; pull: Pull } | undefined> {
    for (const name of this.around.names()) {
      const open = await this.around.owner<Pull[]>('GET', `/repos/${name}/pulls?per_page=100`);
      const listed = open.find(({ node_id }) => node_id === id);
      if (listed !== undefined)
        return { merge: this.of(name, listed.number), pull: await this.pull(name, listed.number) };
    }
    return undefined;
  }

  /** Takes a pull request out of the queue, as GitHub does when its checks fail. */
  async dequeue(name: string, number: number, reason: string): Promise<void> {
    const merge = this.of(name, number);
    if (merge.queuedAt === undefined) return;
    merge.queuedAt = undefined;
    const commit = { oid: 'e'.repeat(40) };
    merge.ended = { __typename: 'RemovedFromMergeQueueEvent', createdAt: now(), reason, beforeCommit: commit };
    await this.tell(name, { action: 'dequeued', number, pull_request: await this.pull(name, number), reason });
  }

  /** Merges what waits and what is queued, as far as nothing is missing any more. */
  async settle(): Promise<void> {
    for (const { name, number, autoMerge, queuedAt } of [...this.all.values()]) {
      if (autoMerge === undefined && queuedAt === undefined) continue;
      const { mergeable_state: state } = await this.pull(name, number);
      if (queuedAt === undefined && state !== 'clean') continue;
      this.all.delete(`${name}#${number}`);
      const merge_method = autoMerge?.method.toLowerCase() ?? (await this.queueMethod(name));
      await this.around.owner('PUT', `/repos/${name}/pulls/${number}/merge`, { merge_method });
    }
  }

  /** Returns a method that the repository allows. On GitHub, the rule of the queue names one. */
  private async queueMethod(name: string): Promise<string> {
    const allowed = await this.around.owner<Record<string, boolean>>('GET', `/repos/${name}`);
    const key = (method: string) => `allow_${method === 'merge' ? 'merge_commit' : `${method}_merge`}`;
    return ['merge', 'squash', 'rebase'].find((method) => allowed[key(method)] !== false) ?? 'merge';
  }

  /** Answers "Update branch". GitHub does it a moment later. */
  async update(path: string, body = '{}') {
    const [, , owner = '', repo = '', , number] = path.split('/');
    const name = `${owner}/${repo}`;
    const bot = await this.around.owner<{ id: number; login: string }>('GET', '/users/deckhand%5Bbot%5D');
    const { expected_head_sha: expected } = JSON.parse(body) as { expected_head_sha?: string };
    const pull = await this.pull(name, Number(number));
    const message = await this.around.moving(name, () => this.around.pullsOf(name).update(pull, expected, bot));
    const json =
      message === undefined
        ? { message: 'Updating pull request branch.', url: `https://github.com/${name}/pull/${number}` }
        : { message };
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    return { status: message === undefined ? 202 : 422, headers, text: JSON.stringify(json) };
  }

  private async tell(name: string, payload: { action: string; number: number; pull_request: object; reason?: string }) {
    const sender = await this.around.owner('GET', `/users/${name.split('/')[0]}`);
    await this.around.tell(name, 'pull_request', { ...payload, sender });
  }

  private async commit({ owner, repo, sha, base }: CommitAsked): Promise<object> {
    return { data: { repository: await this.around.pullsOf(`${owner}/${repo}`).commit(sha, base) } };
  }
}

interface CommitAsked {
  owner: string;
  repo: string;
  sha: string;
  base: string;
}

interface Pull extends PullLike {
  node_id: string;
  number: number;
  head: { ref: string; sha: string };
  base: { ref: string; sha: string };
  mergeable_state: string;
}
