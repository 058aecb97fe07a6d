import { noProxies } from '../../src/host/proxies.ts';
import { fetchFromGitHub, githubApiVersion } from '../../src/outgoing/fetch-from.ts';
import { answeringServers } from '../support/http/answering.ts';

const serve = answeringServers(({ headers }) => `${headers['x-github-api-version']} ${headers.accept}`);
const json = 'application/vnd.github+json';

test.each([
  ['/repos/o/r', {}, githubApiVersion, json],
  ['/graphql', { Accept: 'application/vnd.github.v3+json' }, githubApiVersion, json],
  ['/api/v3/repos/o/r', {}, '2022-11-28', json],
  ['/below/api/graphql', {}, '2022-11-28', json],
  ['/login/oauth/access_token', { Accept: 'application/json' }, githubApiVersion, 'application/json'],
])('%s names the version of the API and the media type', async (path, headers, version, accept) => {
  const { url, asked } = await serve((_req, res) => res.setHeader('Content-Type', 'application/json').end('{}'));
  const sent = path.endsWith('graphql') ? { method: 'POST', body: '{"query":"{ viewer { login } }"}' } : {};
  await fetchFromGitHub(noProxies)(`${url}${path}`, { ...sent, headers });
  await fetchFromGitHub(noProxies)(new Request(`${url}${path}`, { ...sent, headers }));
  expect(asked).toEqual([`${version} ${accept}`, `${version} ${accept}`]);
});
