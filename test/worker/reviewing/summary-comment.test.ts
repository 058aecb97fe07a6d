import type { App } from '../../../src/app.ts';
import type { Credential } from '../../../src/repositories/credentials.ts';
import { writeSummary } from '../../../src/runs/reviewing/summary-comment.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { type FakeGitHub, openFakeGitHub } from '../../support/stand-ins/fake-github.ts';

const [bot, owner, stranger] = [1, 2, 3];
const marker = '<!-- deckhand:review-summary -->';
const ofToken: Credential = { kind: 'git-token', token: 'ghp_x', owner: 'octocat', repo: 'r' } as Credential;
const ofApp = { kind: 'installation', installationId: 7, owner: 'octocat', repo: 'r' } as Credential;

let authors: number[] = [];
let isKnown = true;
const sent: string[] = [];
let github: FakeGitHub;
let service: TestApp;

beforeAll(async () => {
  github = await openFakeGitHub(
    [
      [/^GET \/user$/, (_, res) => (isKnown ? { id: owner } : void res.writeHead(403).end('{}'))],
      [/^GET .*\/issues\/5\/comments/, () => authors.map(commentOf)],
      [/^(POST|PATCH) /, () => ({ id: 1 })],
    ],
    ({ method, url }) => {
      if (method !== 'GET') sent.push(`${method} ${url}`);
    },
  );
  service = await openTestApp({ GITHUB_SERVER_URL: github.url, GITHUB_API_URL: github.url });
});
afterAll(async () => {
  await service.close();
  github.close();
});
const commentOf = (id: number) => ({ id: id * 10, user: { id }, body: `${marker}\nOld.` });

/** Writes a summary below comments of these accounts, which all begin with our marker, and returns what was sent. */
async function write(credential: Credential, by: number[]): Promise<string[]> {
  authors = by;
  const octokit = service.app.githubWithToken('ghp_x');
  const app = { ...service.app, github: { bot: async () => ({ id: bot, login: 'deckhand[bot]' }) } } as App;
  await writeSummary(app, { credential, octokit, name: { owner: 'octocat', repo: 'r' }, number: 5 }, 'New.');
  return sent.splice(0);
}
const edits = (author: number) => [`PATCH /repos/octocat/r/issues/comments/${author * 10}`];
const posts = ['POST /repos/octocat/r/issues/5/comments'];

test('a review edits the summary of the account that writes, and of nobody who copied its marker', async () => {
  expect(await write(ofApp, [stranger, owner, bot])).toEqual(edits(bot));
  expect(await write(ofApp, [stranger, owner])).toEqual(posts);
  expect(await write(ofToken, [stranger, bot, owner])).toEqual(edits(owner));
  expect(await write(ofToken, [stranger, bot])).toEqual(posts);
});

test('where GitHub does not say whose a git token is, the marker must do', async () => {
  isKnown = false;
  expect(await write(ofToken, [stranger])).toEqual(edits(stranger));
});
