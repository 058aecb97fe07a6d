import type { Call } from './git/git-objects.ts';

/** An answer of the front itself. */
export interface RareAnswer {
  status: number;
  json: Record<string, string>;
  headers?: Record<string, string>;
}

interface Asked {
  method: string;
  path: string;
  /** The token of an installation, if the request has one. */
  token: string | undefined;
  /** The address of GitHub, and the path below which it has its API. */
  url: string;
  api: string;
  /** Says whether a number of `owner/name` is a pull request. */
  isPull(name: string, number: number): Promise<boolean>;
}

type Fields = Record<string, unknown>;

/** GitHub shows deleted accounts as this one, except where it says nothing of them. */
const ghost = {
  login: 'ghost',
  id: 10137,
  node_id: 'MDQ6VXNlcjEwMTM3',
  avatar_url: 'https://avatars.githubusercontent.com/u/10137?v=4',
  html_url: 'https://github.com/ghost',
  type: 'User',
};

/**
 * States of GitHub that are rare, and that the emulator lacks. Tests set them. The words are GitHub's own, from its
 * documentation and from public reports.
 */
export class RareStates {
  /** Whether the installation of the App is suspended. */
  isSuspended = false;
  /** The organization with a list of allowed IP addresses, which lacks the service's. */
  walled: string | undefined;
  /** What the base branch requires of a merge: the merge queue, or a branch that is up to date. */
  requires: 'queue' | 'up to date' | undefined;
  /** Whether a check or a review is missing that the base branch requires. */
  isBlocked = false;
  /** Whether the repositories allow auto-merge. GitHub's default is that they do not. */
  allowsAutoMerge = true;
  /** Whether GitHub signs the commits that it makes for the App. GitHub Enterprise Server may not. */
  signsCommits = true;
  /** Logins of deleted accounts. */
  readonly deletedUsers = new Set<string>();
  /** Numbers of pull requests whose fork was deleted. */
  readonly deletedForks = new Set<number>();
  /** Numbers of pull requests whose branch is in a fork. */
  readonly forks = new Set<number>();
  /** Where issues are now, by `/repos/owner/name/issues/number`; undefined if they were deleted. */
  readonly goneIssues = new Map<string, string | undefined>();
  /** Paths of issues and pull requests whose conversation is locked, as in `goneIssues`. */
  readonly locked = new Set<string>();
  /** Whether issues are switched off in all repositories. Pull requests stay. */
  areIssuesOff = false;
  /** Whether pull requests are switched off in all repositories. Issues stay. */
  arePullsOff = false;
  /** Who is assigned to pull requests, by the number. The emulator assigns people to issues only. */
  readonly assigned = new Map<number, object[]>();
  /** Renamed repositories, by their former `owner/name`. */
  readonly renamed = new Map<string, { id: number; now: string }>();

  /** Returns the answer to a request that GitHub does not fulfil in these states; undefined for others. */
  async answer(asked: Asked): Promise<RareAnswer | undefined> {
    const known = this.refusal(asked) ?? this.ofRenamed(asked) ?? this.ofGone(asked) ?? this.ofHiddenPulls(asked);
    return known ?? (await this.ofSwitchedOff(asked));
  }

  /** Moves an issue to another repository. Returns its path there. */
  async transfer(from: string, to: string, call: Call): Promise<string> {
    const { title, body } = await call<{ title: string; body: string }>('GET', from);
    const made = await call<{ number: number }>('POST', `/repos/${to}/issues`, { title, body });
    const now = `/repos/${to}/issues/${made.number}`;
    this.goneIssues.set(from, now);
    return now;
  }

  private refusal({ method, path, token }: Asked): RareAnswer | undefined {
    if (this.isSuspended && (token !== undefined || path.endsWith('/access_tokens')))
      return refused(403, 'This installation has been suspended');
    if (this.walled !== undefined && token !== undefined)
      return refused(
        403,
        `Although you appear to have the correct authorization credentials, the \`${this.walled}\` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.`,
      );
    if (this.requires === 'queue' && method === 'PUT' && /\/pulls\/\d+\/merge$/.test(path))
      return refused(405, 'Repository rule violations found\n\nChanges must be made through the merge queue\n\n');
    const [, commented = ''] = /^(.*\/issues\/\d+)\/comments$/.exec(path) ?? [];
    // People with write permission may comment; no permission of an App is enough.
    if (method === 'POST' && token !== undefined && this.locked.has(commented))
      return refused(403, 'Unable to create comment because issue is locked.');
    const [, login = ''] = /^(?:\/users|.*\/collaborators)\/([^/?]+)/.exec(path) ?? [];
    return this.deletedUsers.has(decodeURIComponent(login)) ? refused(404, 'Not Found') : undefined;
  }

  private ofRenamed(asked: Asked): RareAnswer | undefined {
    const pattern = /^(\/repos)?\/([^/]+\/[^/?]+?)((?:\.git)?(?:[/?].*)?)$/;
    const [, isApi, name = '', rest = ''] = pattern.exec(asked.path) ?? [];
    const moved = this.renamed.get(name);
    if (moved === undefined) return undefined;
    if (isApi !== undefined) return movedTo(asked, `/repositories/${moved.id}${rest}`);
    return { status: 301, json: {}, headers: { location: `${asked.url}/${moved.now}${rest}` } };
  }

  /**
   * A transferred issue redirects, for reads and writes alike, and so do its labels, by GitHub's description. Its comments
   * and events are not found (measured in github.com/Systemorph/MeshWeaver/issues/4629).
   */
  private ofGone(asked: Asked): RareAnswer | undefined {
    const { path } = asked;
    const [issue = ''] = /^\/repos\/[^/]+\/[^/]+\/issues\/\d+(?=$|[/?])/.exec(path) ?? [];
    if (!this.goneIssues.has(issue)) return undefined;
    const now = this.goneIssues.get(issue);
    if (now === undefined) return refused(410, 'This issue was deleted');
    const rest = path.slice(issue.length);
    return /^(\/labels.*)?(\?.*)?$/.test(rest) ? movedTo(asked, now + rest, 301) : refused(404, 'Not Found');
  }

  /** Nothing about pull requests is found while they are switched off (github.com/kenn-io/forge/pull/819). */
  private ofHiddenPulls({ path }: Asked): RareAnswer | undefined {
    const isOfPulls = /^\/repos\/[^/]+\/[^/]+\/pulls(?=$|[/?])/.test(path);
    return this.arePullsOff && isOfPulls ? refused(404, 'Not Found') : undefined;
  }

  private async ofSwitchedOff({ method, path, isPull }: Asked): Promise<RareAnswer | undefined> {
    const [issue, name = '', number] = /^\/repos\/([^/]+\/[^/]+)\/issues(?:\/(\d+)(?=$|[/?])|$)/.exec(path) ?? [];
    if (!this.areIssuesOff || issue === undefined || (number === undefined && method !== 'POST')) return undefined;
    if (number !== undefined && (await isPull(name, Number(number)))) return undefined;
    return refused(410, 'Issues are disabled for this repo');
  }

  /** Returns an answer, or the payload of an event, as it is in these states. */
  shown(path: string, json: unknown): unknown {
    const [place = ''] = path.split('?');
    if (Array.isArray(json)) {
      const isThere = ({ number, issue_url: at }: Fields) =>
        !this.goneIssues.has(/\/issues$/.test(place) ? `${place}/${number}` : `/repos${String(at).split('/repos')[1]}`);
      return json.filter((each) => !isObject(each) || isThere(each)).map((each) => this.shownIn(place, each));
    }
    const shown = this.shownIn(place, json) as Fields;
    if (this.isSuspended && place.startsWith('/app/installations/')) shown.suspended_at = '2026-11-01T10:00:00Z';
    const assignees = this.assigned.get(Number(/\/(?:pulls|issues)\/(\d+)$/.exec(place)?.[1]));
    if (assignees !== undefined) shown.assignees = assignees;
    if (this.areIssuesOff && 'has_issues' in shown) shown.has_issues = false;
    if ('has_issues' in shown) shown.has_pull_requests = !this.arePullsOff;
    return shown;
  }

  private shownIn(place: string, value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.shownIn(place, each));
    if (!isObject(value)) return value;
    // Numbers with all their digits have no prototype, and stay as they are.
    if (Object.getPrototypeOf(value) === null) return value;
    const all = Object.entries(value).map(([name, each]) => [name, this.field(place, name, each)]);
    const copy = Object.fromEntries(all) as Fields;
    if (isObject(copy.head) && this.deletedForks.has(Number(copy.number))) copy.head = { ...copy.head, repo: null };
    if (isObject(copy.head) && isObject(copy.head.repo) && this.forks.has(Number(copy.number)))
      copy.head = { ...copy.head, repo: { ...copy.head.repo, id: Number(copy.head.repo.id) + 100_000, fork: true } };
    return copy;
  }

  /** GitHub names nobody as the author of a review, or as the cause of an event of an issue, if the account is gone. */
  private field(place: string, name: string, value: unknown): unknown {
    if (!isObject(value) || !this.deletedUsers.has(String(value.login))) return this.shownIn(place, value);
    return name === 'actor' || /\/pulls\/\d+\/reviews/.test(place) ? null : { ...value, ...ghost };
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(status: number, message: string): RareAnswer {
  return { status, json: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) } };
}

/**
 * Writes to what was renamed keep their method and body by the status 307 (docs.github.com, "Best practices for using the
 * REST API").
 */
function movedTo({ method, url: server, api }: Asked, path: string, status = method === 'GET' ? 301 : 307): RareAnswer {
  const url = `${server}${api}${path}`;
  const documentation_url =
    'https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects';
  const json = { message: 'Moved Permanently', url, documentation_url };
  return { status, json, headers: { location: url } };
}
