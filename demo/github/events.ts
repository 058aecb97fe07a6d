import { eventAsGitHub } from './as-github.ts';
import type { Call } from './git/git-objects.ts';

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
    const pull_request = { ...listed, head: { ...listed.head, sha: to }, mergeable: null, mergeable_state: 'unknown' };
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
export function eventOf(event: string, payload: Payload): { event: string; payload: unknown } {
  const { issue, ...rest } = payload;
  // The emulator reports labels of pull requests as those of issues.
  if (event === 'issues' && issue?.base !== undefined) {
    const { pull_request: _mark, ...pull_request } = issue;
    return eventOf('pull_request', { ...rest, pull_request });
  }
  return { event, payload: eventAsGitHub(event, { ...payload, ...missingIn(event, payload) }) };
}

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
