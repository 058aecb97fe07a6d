import type { RequestListener } from 'node:http';
import { noProxies } from '../../src/host/proxies.ts';
import { fetchFromGitHub } from '../../src/outgoing/fetch-from.ts';
import { answeringServers } from '../support/http/answering.ts';

const serve = answeringServers(({ method, url, headers }) => `${method} ${url} ${headers.authorization}`);

/** A GitHub with the repository o/r, which has the number 1. It redirects other requests to where `moved` says. */
function openGitHub(moved: Record<string, [status: number, path: string]>, status = 200) {
  const answer: RequestListener = ({ url = '', headers }, res) => {
    const [redirect, path] = moved[url] ?? [];
    if (redirect !== undefined) return res.writeHead(redirect, { Location: `http://${headers.host}${path}` }).end();
    const isRepository = /\/repos\/o\/r$|\/repositories\/1$/.test(url);
    res.writeHead(isRepository ? status : 200, { 'Content-Type': 'application/json' });
    return res.end(JSON.stringify(isRepository ? { id: 1 } : {}));
  };
  return serve(answer);
}

const request = (method: string, url: string, body?: object) =>
  fetchFromGitHub(noProxies)(url, {
    method,
    headers: { authorization: 'key' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const change = (url: string) => request('PATCH', url, { title: 'New' });

test.each([301, 302, 307])('a change of a transferred issue does not reach its new repository (%i)', async (status) => {
  for (const [prefix, there] of [
    ['', '/repositories/2/issues/5'],
    ['', '/repos/o/other/issues/5'],
    ['', '/repositories/12/issues/5'],
    ['/api/v3', '/api/v3/repositories/2/issues/5'],
  ])
    for (const [method, rest, body] of [
      ['PATCH', '', { title: 'New' }],
      ['POST', '/labels', { labels: ['agent:ready'] }],
      ['DELETE', '/labels/agent%3Aready', undefined],
    ] as const) {
      const path = `${prefix}/repos/o/r/issues/5${rest}`;
      const { url, asked } = await openGitHub({ [path]: [status, `${there}${rest}`] });
      const answer = await request(method, url + path, body);
      expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
        410,
        expect.stringMatching(/another repository/),
      ]);
      expect(asked.filter((each) => each.includes(`${there}`))).toEqual([]);
    }
});

test('a change of a repository that was renamed reaches it', async () => {
  const { url, asked } = await openGitHub({
    '/repos/o/old': [301, '/repositories/1'],
    '/repos/o/old/issues/5': [307, '/repositories/1/issues/5'],
    '/repos/O/R/issues/6': [307, '/repos/o/r/issues/6'],
  });
  expect((await change(`${url}/repos/o/old/issues/5`)).status).toBe(200);
  expect(asked.splice(0)).toEqual([
    'PATCH /repos/o/old/issues/5 key',
    'GET /repos/o/old key',
    'GET /repositories/1 key',
    'PATCH /repositories/1/issues/5 key',
  ]);
  expect((await change(`${url}/repos/O/R/issues/6`)).status).toBe(200);
});

test('a change that cannot be checked is not made, and reading follows a transferred issue', async () => {
  const { url, asked } = await openGitHub({ '/repos/o/r/issues/5': [307, '/repositories/1/issues/5'] }, 502);
  expect((await change(`${url}/repos/o/r/issues/5`)).status).toBe(502);
  expect(asked.some((each) => each.startsWith('PATCH /repositories'))).toBe(false);
  const moved = await openGitHub({ '/repos/o/r/issues/5': [301, '/repositories/2/issues/9'] });
  expect((await fetchFromGitHub(noProxies)(`${moved.url}/repos/o/r/issues/5`)).status).toBe(200);
});
