import type { App } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { type Access, fetchAgain, fetchPictures, signedAddress } from '../../src/conversation/briefing/pictures.ts';
import { octokitFor } from '../support/github-app.ts';
import { answeringServers } from '../support/http/answering.ts';
import { openFakeGitHub } from '../support/stand-ins/fake-github.ts';

const serve = answeringServers(({ url, headers }) => `${url} ${headers.authorization ?? 'without token'}`);
const live = new AbortController().signal;
const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');
const files: Record<string, Buffer> = {
  png,
  jpeg: Buffer.from('\xff\xd8\xff\xe0rest', 'latin1'),
  gif: Buffer.from('GIF89arest'),
  webp: Buffer.from('RIFF\0\0\0\0WEBPrest'),
  svg: Buffer.from('<svg onload="x()"/>'),
  large: Buffer.concat([png, Buffer.alloc(5_000_000)]),
};

/** GitHub, which redirects downloads to its storage at another address. */
async function openGitHub(settings: Record<string, string> = {}) {
  const storage = await serve((req, res) => res.end(files[/^\/([a-z]+)/.exec(String(req.url))?.[1] ?? '']));
  const github = await serve((req, res) => {
    const name = String(req.url).split('/').at(-1);
    if (name === 'round') return res.writeHead(302, { Location: String(req.url) }).end();
    if (name === 'gone' || name === 'hidden') return res.writeHead(404).end();
    res.writeHead(302, { Location: `${storage.url}/${name}` }).end();
  });
  const config = readConfig({ GITHUB_SERVER_URL: github.url, ALLOW_PRIVATE_HOSTS: 'true', ...settings });
  const app = { config } as App;
  const access: Access = {
    token: 'ghs_token',
    sign: async (url) => (url.endsWith('/hidden') ? `${storage.url}/gif?jwt=x` : url),
  };
  const link = (name: string) => `![x](${github.url}/user-attachments/assets/${name})`;
  const fetched = (text: string) => fetchPictures(app, [{ from: 'here', text }], async () => access, live);
  return { app, github, storage, access, link, fetched };
}

test('images attached on GitHub are recognized by their content; the token goes to GitHub only', async () => {
  const { github, storage, link, fetched } = await openGitHub();
  const text = [
    ...['png', 'jpeg', 'gif', 'webp', 'svg'].map(link),
    link('png'),
    '![elsewhere](https://example.com/user-attachments/assets/png)',
    `${github.url}.example.com/user-attachments/assets/png`,
    `${github.url}/mona/sample/raw/main/logo.png`,
    `${github.url}/user-attachments/../mona/other/raw/main/logo.png`,
    `${github.url}/user-attachments/%2e%2e/mona/other/raw/main/logo.png`,
  ].join('\n');
  const { pictures, problems } = await fetched(text);
  expect(pictures.map(({ image }) => image.mediaType)).toEqual(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
  expect(pictures[0]?.image.base64).toBe(png.toString('base64'));
  expect(problems).toEqual([]);
  expect(github.asked).toEqual(
    ['png', 'jpeg', 'gif', 'webp', 'svg'].map((name) => `/user-attachments/assets/${name} Bearer ghs_token`),
  );
  expect(storage.asked).toEqual(['png', 'jpeg', 'gif', 'webp', 'svg'].map((name) => `/${name} without token`));
});

test('images that are too large, gone or redirected endlessly stay links; at most ten are taken', async () => {
  const { link, fetched } = await openGitHub();
  const { pictures, problems } = await fetched(['large', 'gone', 'round'].map(link).join(' '));
  expect(pictures).toEqual([]);
  expect(problems).toEqual([
    expect.stringMatching(/large: the answer is larger than 5 MB$/),
    expect.stringMatching(/gone: HTTP 404$/),
    expect.stringMatching(/round: redirects too often$/),
  ]);
  const many = await fetched(Array.from({ length: 30 }, (_, i) => link(`png${i}`)).join(' '));
  expect(many.pictures).toHaveLength(10);
});

test('images that GitHub hides from tokens are fetched from their signed address', async () => {
  const { storage, link, fetched } = await openGitHub();
  const { pictures } = await fetched(link('hidden'));
  expect(pictures.map(({ image }) => image.mediaType)).toEqual(['image/gif']);
  expect(storage.asked).toEqual(['/gif?jwt=x without token']);
});

test('images get their signed address from the Markdown that GitHub renders', async () => {
  const asked: string[] = [];
  const html = '<p><a href="https://x.example/a"><img src="https://x.example/a.png?jwt=1&amp;b=2" alt=""></a></p>';
  const github = await openFakeGitHub(
    [[/^POST \/markdown$/, (_match, res) => res.writeHead(200, { 'Content-Type': 'text/html' }).end(html)]],
    (_req, body) => void asked.push(body),
  );
  const octokit = octokitFor(github.url);
  const url = 'https://github.com/user-attachments/assets/1';
  const at = { owner: 'o', repo: 'r' };
  const address = await signedAddress(octokit, at, url).finally(github.close);
  expect(address).toBe('https://x.example/a.png?jwt=1&b=2');
  expect(asked.map((body) => JSON.parse(body))).toEqual([{ text: `![](${url})`, mode: 'gfm', context: 'o/r' }]);
});

test('images are not fetched from closed addresses', async () => {
  const { storage, link, fetched } = await openGitHub({ ALLOW_PRIVATE_HOSTS: 'false' });
  const { pictures, problems } = await fetched(link('png'));
  expect([pictures, problems]).toEqual([[], [expect.stringContaining('the address must begin with https://')]]);
  expect(storage.asked).toEqual([]);
});

test('images are downloaded again for a worker that takes over, unless they have changed', async () => {
  const { app, access, link, fetched } = await openGitHub();
  const { pictures } = await fetched(link('png') + link('gif'));
  expect(await fetchAgain(app, pictures, access, live)).toEqual(pictures.map(({ image }) => image));
  const changed = pictures.map((each, i) => ({ ...each, sha256: i === 0 ? 'x' : each.sha256 }));
  expect(await fetchAgain(app, changed, access, live)).toEqual([pictures[1]?.image]);
});
