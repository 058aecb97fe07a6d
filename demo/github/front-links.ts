import type { RareAnswer } from './rare-states.ts';

interface Parts {
  names(): string[];
  call(method: string, path: string, authorization: string): Promise<Response>;
  /** The authorization of somebody who may read everything. */
  owner: string;
  tell(name: string, event: string, payload: object): Promise<void>;
}

interface Asked {
  method: string;
  path: string;
  authorization: string;
  body?: string | undefined;
}

interface Issue {
  id: number;
  number: number;
  repository_url: string;
  [field: string]: unknown;
}

type Kind = 'subtask' | 'dependency';
interface Link {
  kind: Kind;
  issue: string;
  other: string;
}
interface Answer {
  status: number;
  json: unknown;
}

const refused = (status: number, message: string): Answer => ({
  status,
  json: {
    message,
    documentation_url: 'https://docs.github.com/rest',
    status: String(status),
  } satisfies RareAnswer['json'],
});

const pattern =
  /^(\/repos\/[^/]+\/[^/]+\/issues\/\d+)\/(sub_issues|sub_issue|parent|dependencies\/blocked_by|dependencies\/blocking)(?:\/(\d+))?(?:\?.*)?$/;

/** GitHub's limits (docs.github.com, "Adding sub-issues"). */
const most = { subtask: 100, dependency: 50 };
const mostLevels = 8;

/**
 * Sub-issues and dependencies of issues, and types of issues, which the emulator lacks. Issues are named by their path, such
 * as `/repos/owner/name/issues/1`.
 */
export class FrontLinks {
  /** What this GitHub does not have, as older ones of GitHub Enterprise Server. */
  readonly lacks = new Set<Kind>();
  /** The names of the types of issues. */
  readonly types = new Map<string, string>();
  /** The issues that each issue has as sub-issues, or is blocked by. */
  private readonly links = { subtask: new Map<string, string[]>(), dependency: new Map<string, string[]>() };
  private readonly events = new Map<string, object[]>();
  private readonly parts: Parts;
  private lastEvent = 900_000;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Returns the paths of the sub-issues of an issue, or of those that block it. */
  of(kind: Kind, path: string): string[] {
    return this.links[kind].get(path) ?? [];
  }

  /** Answers a request about links; undefined for others. */
  async answer(asked: Asked): Promise<Answer | undefined> {
    const [, issue, what = '', id] = pattern.exec(asked.path) ?? [];
    if (issue === undefined) return undefined;
    const kind = what.startsWith('dependencies') ? 'dependency' : 'subtask';
    if (this.lacks.has(kind)) return refused(404, 'Not Found');
    const own = await this.read(issue, asked.authorization);
    if (own === undefined) return refused(404, 'Not Found');
    if (asked.method === 'GET') return this.list(issue, what, asked.authorization);
    const { sub_issue_id, issue_id, replace_parent } = JSON.parse(asked.body || '{}');
    const other = await this.find(Number(id ?? sub_issue_id ?? issue_id));
    if (other === undefined) return refused(asked.method === 'POST' ? 422 : 404, 'The provided issue does not exist');
    const link = { kind, issue, other } as const;
    const problem = await (asked.method === 'DELETE'
      ? this.remove(link, asked.authorization)
      : this.add(link, asked.authorization, replace_parent === true));
    return problem ?? { status: asked.method === 'DELETE' ? 200 : 201, json: own };
  }

  private async remove(link: Link, authorization: string): Promise<Answer | undefined> {
    if (!this.of(link.kind, link.issue).includes(link.other)) return refused(404, 'Not Found');
    await this.change(link, 'removed', authorization);
    return undefined;
  }

  private async add(link: Link, authorization: string, replaces: boolean): Promise<Answer | undefined> {
    const parent = link.kind === 'subtask' ? this.parentOf(link.other) : undefined;
    const problem = this.problem(link, replaces ? undefined : parent);
    if (problem !== undefined) return refused(422, problem);
    if (parent !== undefined) await this.change({ ...link, issue: parent }, 'removed', authorization);
    await this.change(link, 'added', authorization);
    return undefined;
  }

  /** Returns the events of an issue, among them those that the emulator does not know. */
  async listEvents({ path, authorization }: Asked): Promise<Answer> {
    const answer = await this.parts.call('GET', path, authorization);
    const json = (await answer.json()) as object[];
    const [place = ''] = path.split('?');
    const own = this.events.get(place.replace(/\/events$/, '')) ?? [];
    const isFirst = !/[?&]page=(?!1(&|$))/.test(path);
    return { status: answer.status, json: answer.ok && isFirst ? [...json, ...own] : json };
  }

  /** Adds to an issue what GitHub says of its links and its type. */
  shown(path: string, json: unknown): unknown {
    const [place = ''] = path.split('?');
    if (!/\/issues\/\d+$/.test(place) || typeof json !== 'object' || json === null || !('number' in json)) return json;
    const blocking = [...this.links.dependency.values()].filter((all) => all.includes(place)).length;
    const blocked = this.of('dependency', place).length;
    const total = this.of('subtask', place).length;
    const name = this.types.get(place);
    const type = { id: 1, node_id: 'IT_1', name, description: null };
    return {
      ...json,
      ...(this.lacks.has('subtask') ? {} : { sub_issues_summary: { total, completed: 0, percent_completed: 0 } }),
      ...(this.lacks.has('dependency')
        ? {}
        : {
            issue_dependencies_summary: {
              blocked_by: blocked,
              blocking,
              total_blocked_by: blocked,
              total_blocking: blocking,
            },
          }),
      ...(name === undefined ? {} : { type }),
    };
  }

  private async list(issue: string, what: string, authorization: string): Promise<Answer> {
    if (what === 'parent') {
      const parent = this.parentOf(issue);
      const json = parent && (await this.read(parent, authorization));
      return json === undefined ? refused(404, 'Not Found') : { status: 200, json };
    }
    const blocked = [...this.links.dependency].filter(([, all]) => all.includes(issue)).map(([path]) => path);
    const paths =
      what === 'dependencies/blocking' ? blocked : this.of(what === 'sub_issues' ? 'subtask' : 'dependency', issue);
    const all = await Promise.all(paths.map((path) => this.read(path, authorization)));
    // What a caller may not see is left out.
    return { status: 200, json: all.filter((each) => each !== undefined) };
  }

  private parentOf(issue: string): string | undefined {
    return [...this.links.subtask].find(([, all]) => all.includes(issue))?.[0];
  }

  private problem({ kind, issue, other }: Link, parent?: string) {
    const all = this.of(kind, issue);
    const adding = 'An error occurred while adding the sub-issue to the parent issue.';
    if (all.includes(other))
      return kind === 'subtask'
        ? `${adding} Issue may not contain duplicate sub-issues`
        : 'The dependency already exists';
    if (parent !== undefined) return `${adding} Sub issue may only have one parent`;
    if (issue === other || this.reaches(kind, other, issue)) return 'The links of these issues would form a circle';
    if (all.length >= most[kind])
      return kind === 'subtask' ? 'Parent cannot have more than 100 sub-issues' : 'Too many issues block this one';
    if (kind === 'subtask' && this.levelOf(issue) + this.heightOf(other) > mostLevels)
      return 'Sub-issues may not be nested deeper than 8 levels';
    return undefined;
  }

  private reaches(kind: Kind, from: string, to: string): boolean {
    return this.of(kind, from).some((each) => each === to || this.reaches(kind, each, to));
  }

  private levelOf(issue: string): number {
    const parent = this.parentOf(issue);
    return parent === undefined ? 0 : 1 + this.levelOf(parent);
  }

  private heightOf(issue: string): number {
    return 1 + Math.max(0, ...this.of('subtask', issue).map((each) => this.heightOf(each)));
  }

  private async change(link: Link, how: 'added' | 'removed', authorization: string): Promise<void> {
    const { kind, issue, other } = link;
    const rest = this.of(kind, issue).filter((each) => each !== other);
    this.links[kind].set(issue, how === 'added' ? [...rest, other] : rest);
    const actor = await this.personOf(authorization);
    const [own, theirs] =
      kind === 'subtask' ? [`sub_issue_${how}`, `parent_issue_${how}`] : [`blocked_by_${how}`, `blocking_${how}`];
    this.noteEvent(issue, own, actor);
    this.noteEvent(other, theirs, actor);
    await this.report(link, [own, theirs], actor);
  }

  private noteEvent(issue: string, event: string, actor: object): void {
    this.lastEvent += 1;
    const created_at = `${new Date().toISOString().slice(0, 19)}Z`;
    const about = { id: this.lastEvent, node_id: `LE_${this.lastEvent}`, url: `https://api.github.com${issue}/events` };
    const entry = { ...about, actor, event, commit_id: null, commit_url: null, created_at };
    this.events.set(issue, [...(this.events.get(issue) ?? []), entry]);
  }

  /** Sends both events of a change: one about each issue. */
  private async report({ kind, issue, other }: Link, [own, theirs]: [string, string], sender: object): Promise<void> {
    const { owner } = this.parts;
    const [a, b] = [await this.read(issue, owner), await this.read(other, owner)];
    const repository = async (of: string) =>
      (await this.parts.call('GET', of.split('/').slice(0, 4).join('/'), owner)).json();
    const [repositoryA, repositoryB] = [await repository(issue), await repository(other)];
    const [first, second] = kind === 'subtask' ? ['parent_issue', 'sub_issue'] : ['blocked_issue', 'blocking_issue'];
    const both = { [`${first}_id`]: a?.id, [first]: a, [`${second}_id`]: b?.id, [second]: b, sender };
    // GitHub's description demands it, also for issues of people.
    const { login, id, node_id } = (repositoryA as { owner: Record<string, unknown> }).owner;
    const api = `https://api.github.com/orgs/${login}`;
    const urls = { events_url: `${api}/events`, repos_url: `${api}/repos`, avatar_url: api, url: api };
    const organization = { login, id, node_id, description: null, ...urls };
    const all = kind === 'dependency' ? { ...both, organization } : both;
    const event = kind === 'subtask' ? 'sub_issues' : 'issue_dependencies';
    const nameOf = (path: string) => path.split('/').slice(2, 4).join('/');
    await this.parts.tell(nameOf(issue), event, { action: own, ...all, [`${second}_repo`]: repositoryB });
    await this.parts.tell(nameOf(other), event, { action: theirs, ...all, [`${first}_repo`]: repositoryA });
  }

  /** Returns the person of a token, or else the App's bot, as GitHub names them in events. */
  private async personOf(authorization: string): Promise<object> {
    const answer = await this.parts.call('GET', '/user', authorization);
    const isPerson = answer.ok;
    const bot = () => this.parts.call('GET', '/users/deckhand%5Bbot%5D', this.parts.owner);
    const found = (await (isPerson ? answer : await bot()).json()) as Record<string, unknown>;
    const { login, id, node_id, avatar_url, url, html_url } = found;
    return { login, id, node_id, avatar_url, url, html_url, type: isPerson ? 'User' : 'Bot' };
  }

  private async read(path: string, authorization: string): Promise<Issue | undefined> {
    const answer = await this.parts.call('GET', path, authorization);
    return answer.ok ? ((await answer.json()) as Issue) : undefined;
  }

  /** Returns the path of the issue with an id. */
  private async find(id: number): Promise<string | undefined> {
    for (const name of this.parts.names()) {
      const path = `/repos/${name}/issues`;
      const answer = await this.parts.call('GET', `${path}?state=all&per_page=100`, this.parts.owner);
      const found = ((await answer.json()) as Issue[]).find((issue) => issue.id === id);
      if (found !== undefined) return `${path}/${found.number}`;
    }
    return undefined;
  }
}
