import { eventAsGitHub } from './as-github.ts';
import { type Call, gitIn } from './git/git-objects.ts';

/** What a push changed: the commits of all branches before and after it, by ref. */
export interface Moved {
  before: Map<string, string>;
  after: Map<string, string>;
}

interface ListedPull {
  number: number;
  head: { ref: string; sha: string };
  user: object;
}

/** Returns the events `synchronize` that GitHub sends about the open pull requests of the branches that a push moved. */
export async function synchronized(name: string, { before, after }: Moved, sender: object | undefined, call: Call) {
  const pulls = await call<ListedPull[]>('GET', `/repos/${name}/pulls?state=open&per_page=100`);
  return pulls.flatMap((listed) => {
    const ref = `refs/heads/${listed.head.ref}`;
    const [from, to] = [before.get(ref), after.get(ref)];
    if (from === undefined || to === undefined || from === to) return [];
    // GitHub begins to look for conflicts when somebody reads the pull request.
    const updated_at = `${new Date().toISOString().slice(0, 19)}Z`;
    const head = { ...listed.head, sha: to };
    const pull_request = { ...listed, head, updated_at, mergeable: null, mergeable_state: 'unknown' };
    const { number, user } = listed;
    return [{ action: 'synchronize', number, before: from, after: to, pull_request, sender: sender ?? user }];
  });
}

const none = '0'.repeat(40);

interface Payload {
  action?: string;
  changes?: Record<string, unknown>;
  issue?: { number: number; base?: object; pull_request?: object };
  pull_request?: { number: number };
  [field: string]: unknown;
}

/** Returns an event of the emulator as GitHub sends it. */
function eventOf(event: string, payload: Payload): { event: string; payload: unknown } {
  const { issue, ...rest } = payload;
  // The emulator reports labels of pull requests as those of issues.
  if (event === 'issues' && issue?.base !== undefined) {
    const { pull_request: _mark, ...pull_request } = issue;
    return eventOf('pull_request', { ...rest, pull_request });
  }
  return { event, payload: eventAsGitHub(event, { ...payload, ...missingIn(event, payload) }) };
}

/** A push event has at most this many commits. */
const maxCommits = 2048;

/** Returns the commits that a push event lists: those that its branch has now, the oldest first. */
async function commitsOf(folder: string, before: string, after: string): Promise<object[]> {
  const format = '%H%x00%T%x00%cI%x00%an%x00%ae%x00%cn%x00%ce%x00%s';
  const args = ['log', '--reverse', `--max-count=${maxCommits}`, `--format=${format}`, `${before}..${after}`];
  const listed = (await gitIn(folder, args)).toString('utf8').split('\n');
  return listed.filter(Boolean).map((line) => {
    const [id, tree_id, timestamp, name, email, committer, address, message] = line.split('\0');
    const files = { added: [], removed: [], modified: [] };
    const people = { author: { name, email }, committer: { name: committer, email: address } };
    return {
      id,
      tree_id,
      distinct: true,
      message,
      timestamp,
      url: `https://github.com/commit/${id}`,
      ...people,
      ...files,
    };
  });
}

/** Returns an event of the emulator as GitHub sends it. A push has the commits that its repository has in this folder. */
export async function fullEventOf(event: string, body: string, folderOf: (name: string) => string) {
  const payload = JSON.parse(body);
  const made = eventOf(event, payload);
  if (event !== 'push' || payload.before === none || payload.after === none) return made;
  const folder = folderOf(payload.repository.full_name);
  // A merge of the emulator was its own commit, before git made that of GitHub.
  const isKnown = await gitIn(folder, ['cat-file', '-e', payload.before]).then(
    () => true,
    () => false,
  );
  const before = isKnown ? payload.before : `${payload.after}^`;
  const [commits, continues] = await Promise.all([
    commitsOf(folder, before, payload.after),
    isAncestor(folder, before, payload.after),
  ]);
  return {
    ...made,
    payload: { ...(made.payload as object), commits, forced: !continues, head_commit: commits.at(-1) ?? null },
  };
}

/** Makes the event of a pull request that has another base branch. */
export type Move = () => Promise<object>;

/**
 * Returns what makes the event of a pull request that gets another base branch by a request, once it has one. The emulator sends
 * none. `read` asks the emulator as the person whose request it is.
 */
export async function retargeted(
  { method, path, body = '{}' }: { method: string; path: string; body?: string | undefined },
  read: (path: string) => Promise<unknown>,
): Promise<Move | undefined> {
  if (method !== 'PATCH' || !/\/pulls\/\d+$/.test(path)) return undefined;
  const wanted = (JSON.parse(body) as { base?: string }).base;
  const { base } = (await read(path)) as { base?: { ref: string; sha: string } };
  if (wanted === undefined || base === undefined || wanted === base.ref) return undefined;
  const changes = { base: { ref: { from: base.ref }, sha: { from: base.sha } } };
  return async () => ({ action: 'edited', changes, pull_request: await read(path), sender: await read('/user') });
}

const isAncestor = (folder: string, before: string, after: string) =>
  gitIn(folder, ['merge-base', '--is-ancestor', before, after]).then(
    () => true,
    () => false,
  );

/** Returns the fields that GitHub sends with an event, and the emulator leaves out or fills wrongly. */
function missingIn(event: string, payload: Payload): Partial<Payload> {
  const { action, changes, pull_request } = payload;
  return {
    ...(event === 'push' ? pushOf(payload as never) : {}),
    ...(event === 'pull_request' ? { number: pull_request?.number } : {}),
    ...(action === 'edited' ? { changes: changesOf(changes ?? {}) } : {}),
  };
}

/** The emulator says whether a text changed, or what it was; GitHub names those that changed, with what they were. */
function changesOf(changes: Record<string, unknown>): Record<string, unknown> {
  const changed = Object.entries(changes).filter(([, old]) => old !== false && old !== undefined);
  return Object.fromEntries(
    changed.map(([field, old]) => [
      field,
      typeof old === 'object' && old !== null ? old : { from: typeof old === 'string' ? old : '' },
    ]),
  );
}

function pushOf({ before, after, sender }: { before: string; after: string; sender: { login: string } }) {
  const is = { created: before === none, deleted: after === none, forced: false };
  return { base_ref: null, commits: [], compare: '', ...is, head_commit: null, pusher: { name: sender.login } };
}
