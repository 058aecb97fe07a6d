import type { ServerResponse } from 'node:http';
import { tidy } from '../../src/github/mirror/tidy.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { appSettings } from '../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../support/stand-ins/fake-github.ts';

let github: FakeGitHub;
let service: TestApp;
let repository: string;
/** What people do on GitHub: the authors of the branch's commits, its heads as they are read, and refusals by request. */
let authors: string[];
let heads: string[];
let refusals: Record<string, number> = {};
let asked: string[] = [];

const own = 'deckhand@users.noreply.127.0.0.1';
const place = '/repos/o/r';

function compared([, query = '']: RegExpExecArray) {
  const page = Number(/[?&]page=(\d+)/.exec(query)?.[1] ?? 1);
  const size = Math.min(100, Number(/per_page=(\d+)/.exec(query)?.[1] ?? 30));
  const commits = authors.slice((page - 1) * size, page * size).map((email) => ({ commit: { author: { email } } }));
  return { url: 'u', total_commits: authors.length, commits };
}

type Answer = (request: RegExpExecArray, res: ServerResponse) => unknown;

const routes: [RegExp, Answer][] = [
  [/^GET \/app\/installations/, () => []],
  [/^GET \/users\/ada$/, () => ({ id: 1, login: 'ada', type: 'User', avatar_url: '' })],
  [/^GET \/repos\/o\/r$/, () => ({ id: 1, private: false })],
  [/^GET .*\/pulls\/7$/, () => ({ state: 'open' })],
  [/^GET .*\/comments/, () => []],
  [/^GET .*\/git\/ref\//, () => ({ object: { sha: heads.length > 1 ? heads.shift() : heads[0] } })],
  [/^GET .*\/compare\/[^?]*(.*)/, compared],
  [/^(POST|PATCH|DELETE) /, () => ({})],
];

/** Refuses a request that is to be refused. */
const unlessRefused =
  (answer: Answer): Answer =>
  (request, res) => {
    const status = refusals[request.input];
    if (status === undefined) return answer(request, res);
    res.statusCode = status;
    return { message: 'refused' };
  };

beforeAll(async () => {
  github = await openFakeGitHub(
    routes.map(([pattern, answer]) => [pattern, unlessRefused(answer)]),
    (req) => asked.push(`${req.method} ${req.url}`),
  );
  service = await openTestApp(appSettings(github.url));
  const token = await service.token('ada');
  const make = async (path: string, body: object) => (await service.call('POST', path, { token, body })).body.id;
  const projectId = await make('/projects', { name: 'P' });
  await make(`/projects/${projectId}/git-token`, { token: 'ghp_x' });
  repository = await make('/repositories', { projectId, name: 'r', url: `${github.url}/o/r` });
});
afterAll(async () => {
  await service.close();
  github.close();
});
beforeEach(() => {
  authors = [own];
  heads = ['a'.repeat(40)];
  refusals = {};
  asked = [];
});

const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);

/** Tidies up after a task with a pull request. Returns what was written to GitHub. */
async function tidied(): Promise<string[]> {
  await sql(`insert into leftovers (task_id, repository_id, number, branch) values ('task_x', $1, 7, 'agent/task_x')`, [
    repository,
  ]);
  const written = await tidyOnce(7);
  expect(await sql('select 1 from leftovers')).toEqual([]);
  return written;
}

async function tidyOnce(number: number): Promise<string[]> {
  asked = [];
  await tidy(service.app, { taskId: 'task_x', repositoryId: repository, number });
  return asked.filter((request) => !request.startsWith('GET '));
}

const comment = `POST ${place}/issues/7/comments`;
const close = `PATCH ${place}/pulls/7`;
const deletion = `DELETE ${place}/git/refs/heads%2Fagent%2Ftask_x`;

// A refused write is among the requests, too.
test.each([
  [comment, 403, [comment, close, deletion]],
  [close, 403, [comment, close, deletion]],
  // A ruleset forbids deletions, or somebody locked the branch.
  [deletion, 422, [comment, close, deletion]],
  [`GET ${place}/pulls/7`, 404, [deletion]],
  [`GET ${place}/issues/7/comments?per_page=100`, 410, [close, deletion]],
])('when GitHub refuses %s, the other steps are carried out', async (request, status, expected) => {
  refusals = { [request]: status };
  expect(await tidied()).toEqual(expected);
});

test('a long branch of our own is deleted', async () => {
  authors = Array.from({ length: 301 }, () => own);
  expect(await tidied()).toContain(deletion);
});

test('a branch is kept if one of its commits, on whatever page, is by somebody else', async () => {
  authors = [...Array.from({ length: 150 }, () => own), 'person@example.com', own];
  expect(await tidied()).toEqual([comment, close]);
});

test('a branch is kept if somebody pushes to it while its commits are read', async () => {
  heads = ['a'.repeat(40), 'b'.repeat(40)];
  expect(await tidied()).toEqual([comment, close]);
});

test.each([
  403, 404,
])('what a task left stays noted while GitHub does not let us into the repository (%i)', async (status) => {
  refusals = { [`GET ${place}`]: status, [`GET ${place}/git/ref/heads%2Fagent%2Ftask_x`]: 404 };
  await sql(`insert into leftovers (task_id, repository_id, number, branch) values ('task_x', $1, 0, 'agent/task_x')`, [
    repository,
  ]);
  expect(await tidyOnce(0)).toEqual([]);
  expect(await sql('select 1 from leftovers')).toHaveLength(1);
  refusals = {};
  expect(await tidyOnce(0)).toEqual([deletion]);
  refusals = { [`GET ${place}`]: status };
  await sql(
    `insert into leftovers (task_id, repository_id, number, branch, at)
             values ('task_x', $1, 0, 'agent/task_x', now() - interval '31 days')`,
    [repository],
  );
  await tidyOnce(0);
  expect(await sql('select 1 from leftovers')).toEqual([]);
});
