import type { ServerResponse } from 'node:http';
import { type FakeGitHub, listedPulls, openFakeGitHub, pullsByNumber, unmerged } from './fake-github.ts';

/** A GitHub in which people and repositories change their names but keep their ids. */
export const people = new Map<number, string>();
export const repositories = new Map<string, number>();
/** Pairs of user id and repository id that have write permission. */
export const writers = new Set<string>();
/** Pairs of user id and repository id without even read permission. */
export const barred = new Set<string>();
export const installations = [{ id: 1, account: { id: 7, login: 'acme', type: 'User' }, suspended_at: null }];

interface Read {
  status: number;
  body: object;
  headers?: Record<string, string>;
  /** Happens before the answer. */
  meanwhile?: () => Promise<unknown>;
}

interface Around {
  /** GitHub refuses to say what anybody may do. */
  isSilent: boolean;
  /** Happens once, while GitHub is asked for a permission. */
  happening: (() => Promise<unknown>) | undefined;
  /** The comments on each issue. */
  comments: { id: number; node_id?: string; body: string; user: { id: number; login: string } }[];
  /** What each repository answers to other requests, by the path below it; a function gets the query. */
  pages: Record<string, unknown>;
  /** What GraphQL says of the objects that are asked for. */
  nodes: object[];
  /** What GraphQL says of who edited an issue or pull request; null if it does not say it. */
  edited: object | null;
  /** What each write request gets instead of `{ id: 1 }`, by its method and path. */
  writes: Record<string, { status: number; body: object }>;
  /** What reading something of a repository gets instead, by its path, such as `/repos/acme/app/issues/8`. */
  reads: Record<string, Read>;
  /** What the next merges are answered with. */
  merges: { status: number; message: string }[];
  /** What its clock shows, if that is not our time. */
  clock: Date | undefined;
}
const calm = (): Around => ({
  isSilent: false,
  happening: undefined,
  comments: [],
  pages: {},
  nodes: [],
  edited: { lastEditedAt: null, editor: null, timelineItems: { nodes: [] } },
  writes: {},
  reads: {},
  merges: [],
  clock: undefined,
});
export const around: Around = calm();
/** The addresses that were read. */
export const looked: string[] = [];
/** The write requests that arrived, including those for tokens. */
export const asked: { path: string; body: Record<string, unknown> }[] = [];

/** The paths of repositories that were read. */
export const read: string[] = [];

export const shown = (id: number, login: string) => ({ id, login, name: null, avatar_url: '', type: 'User' });
const idOf = (login: string) => [...people].find(([, name]) => name === login)?.[0];
const repository = (name: string) => ({
  id: repositories.get(name),
  name: name.split('/')[1],
  full_name: name,
  private: true,
  default_branch: 'main',
});

const account = (id: number | undefined) => {
  const login = id === undefined ? undefined : people.get(id);
  return id === undefined || login === undefined ? undefined : shown(id, login);
};
const permission = (name: string, login: string) => {
  const id = idOf(login);
  const pair = `${id} ${repositories.get(name)}`;
  const mayRead = barred.has(pair) ? 'none' : 'read';
  return id && { permission: writers.has(pair) ? 'write' : mayRead, role_name: '', user: shown(id, login) };
};
/** Returns the repositories of the installation. */
const installed = () => {
  const found = [...repositories.keys()].filter((name) => name.startsWith('acme/')).map(repository);
  return { total_count: found.length, repositories: found };
};
/** Returns what GitHub has about the comments on lines of all pull requests, unless a test says it. */
const ofReviews = (path: string) => {
  if (path === '/pulls/comments') return [];
  return path.startsWith('/pulls/comments/') ? { id: 1 } : undefined;
};
/** Returns GitHub's response about a repository; `rest` is the path below it. */
const about = (asked: string, rest: string) => {
  // Like GitHub, in any letter case.
  const name = [...repositories.keys()].find((each) => each.toLowerCase() === asked.toLowerCase());
  if (name === undefined) return undefined;
  if (rest === '/installation') return name.startsWith('acme/') ? { id: 1 } : undefined;
  const [, collaborator] = /^\/collaborators\/([^/]+)\/permission$/.exec(rest) ?? [];
  if (collaborator !== undefined) return permission(name, collaborator);
  if (/^\/issues\/\d+\/comments/.test(rest)) return around.comments;
  const [, comment] = /^\/issues\/comments\/(\d+)$/.exec(rest) ?? [];
  if (comment !== undefined) return around.comments.find(({ id }) => id === Number(comment)) ?? { id: 1 };
  if (/^(\/issues\/\d+)?\/labels/.test(rest)) return [];
  if (rest === '') return repository(name);
  const [path = '', query] = rest.split('?');
  const page = around.pages[path] ?? ofReviews(path);
  return typeof page === 'function' ? page(new URLSearchParams(query)) : page;
};

const permissionRoute = async (request: string, res: ServerResponse) => {
  const happens = around.happening;
  around.happening = undefined;
  await happens?.();
  if (around.isSilent) res.statusCode = 403;
  const [, name = '', rest = ''] = /^GET \/repos\/([^/]+\/[^/?]+)(.*)$/.exec(request) ?? [];
  return around.isSilent ? {} : about(name, rest);
};

const written = (request: string, res: ServerResponse) => {
  const { status, body } = around.writes[request] ?? { status: 200, body: { id: 1 } };
  res.statusCode = status;
  return body;
};

const merged = (res: ServerResponse) => {
  const { status, message } = around.merges.shift() ?? { status: 200, message: 'Pull Request successfully merged' };
  res.statusCode = status;
  return status === 200 ? { sha: 'c', merged: true, message } : { message };
};

/** Starts the GitHub. There is one for each process, because its names are. */
export function openNamedGitHub(): Promise<FakeGitHub> {
  return openFakeGitHub(
    [
      [
        /^(?:POST|DELETE) .*\/issues\/\d+\/labels/,
        ({ input }, res) => (input in around.writes ? written(input, res) : []),
      ],
      [
        /^POST \/graphql$/,
        (_match, _res, body) =>
          listedPulls((around.pages['/pulls'] ?? []) as never[], body) ??
          pullsByNumber((number) => around.pages[`/pulls/${number}`] as never, body) ?? {
            data: {
              nodes: around.nodes,
              repository: {
                pullRequest: { ...unmerged, commits: { nodes: [] } },
                issueOrPullRequest: around.edited,
              },
            },
          },
      ],
      [/^PUT .*\/merge$/, (_match, res) => merged(res)],
      [/^(?!GET)(?!.*access_tokens)/, ({ input }, res) => written(input, res)],
      [/^GET \/installation\/repositories/, installed],
      [/^GET \/app\/hook\/deliveries/, () => []],
      [/^GET \/repos\/[^/]+\/[^/]+\/collaborators\//, (match, res) => permissionRoute(match.input, res)],
      [
        /^GET \/repos\/([^/]+\/[^/?]+)(.*)$/,
        async ([request, name = '', rest = ''], res) => {
          if (around.clock !== undefined) res.setHeader('Date', around.clock.toUTCString());
          const path = request.slice('GET '.length);
          read.push(path);
          const { status, body, headers = {}, meanwhile }: Partial<Read> = around.reads[path] ?? {};
          await meanwhile?.();
          if (status !== undefined) res.statusCode = status;
          for (const [header, value] of Object.entries(headers)) res.setHeader(header, value);
          return body ?? about(name, rest);
        },
      ],
      [/^GET \/user\/(\d+)$/, ([, id]) => account(Number(id))],
      [/^GET \/users\/(.+)$/, ([, login = '']) => account(idOf(decodeURIComponent(login)))],
      [/^GET \/app$/, () => ({ slug: 'deckhand' })],
      [/^GET \/app\/installations\//, () => installations[0]],
      [/^GET \/app\/installations/, () => installations],
    ],
    (req, body) => {
      if (req.method === 'GET') looked.push(req.url ?? '');
      else asked.push({ path: req.url ?? '', body: body === '' ? {} : JSON.parse(body) });
    },
  );
}

/** Gives everybody and everything their first names, and nobody a permission. */
export function resetNames(): void {
  for (const each of [people, repositories, writers, barred]) each.clear();
  for (const [id, login] of [
    [7, 'acme'],
    [100, 'mona'],
    [41, 'deckhand[bot]'],
  ] as const)
    people.set(id, login);
  repositories.set('acme/app', 1);
  repositories.set('acme/secret', 2);
  Object.assign(around, calm());
  asked.length = 0;
  read.length = 0;
}
