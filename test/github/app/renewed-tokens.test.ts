import type { IncomingMessage } from 'node:http';
import type { Octokit } from '../../../src/app.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { appSettings } from '../../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../../support/stand-ins/fake-github.ts';

// A token keeps the permissions that it was created with, and the client keeps the token for nearly an hour.

const lacks = 'Resource not accessible by integration';
let github: FakeGitHub;
let service: TestApp;
/** How many tokens were created, and which of them has the permissions first. */
let [created, sufficient] = [0, 0];
/** What GitHub refuses requests with older tokens with. */
let refusal = lacks;
/** The requests that arrived, without those for tokens. */
let arrived = 0;
/** So many further requests have to arrive before the first of them is answered. */
let awaited = 0;
const held: (() => void)[] = [];
const allArrived = () =>
  new Promise<void>((resolve) => {
    held.push(resolve);
    if (--awaited === 0) for (const go of held.splice(0)) go();
  });

const tokenOf = (req: IncomingMessage) => Number(/ghs_(\d+)$/.exec(req.headers.authorization ?? '')?.[1]);

beforeAll(async () => {
  const answer = (body: object) => async (_match: unknown, res: { req: IncomingMessage; statusCode: number }) => {
    arrived++;
    if (awaited > 0) await allArrived();
    if (tokenOf(res.req) >= sufficient) return body;
    res.statusCode = 403;
    return { message: refusal };
  };
  github = await openFakeGitHub([
    [
      /\/access_tokens$/,
      () => ({ token: `ghs_${created++}`, expires_at: new Date(Date.now() + 3_600_000).toISOString() }),
    ],
    [/^GET \/repos\/a\/b\/issues\/1$/, answer({ number: 1 })],
    [/^POST \/repos\/a\/b\/issues\/1\/comments$/, answer({ id: 1 })],
    [
      /^POST \/graphql$/,
      (_match, res) => {
        arrived++;
        const isAllowed = tokenOf(res.req) >= sufficient;
        return isAllowed ? { data: { node: { id: 'x' } } } : { errors: [{ type: 'FORBIDDEN', message: lacks }] };
      },
    ],
  ]);
  service = await openTestApp(appSettings(github.url));
});
afterAll(async () => {
  await service.close();
  github.close();
});

let installation = 0;
let octokit: Octokit;
beforeEach(async () => {
  octokit = (await service.app.github?.asInstallation(++installation)) as Octokit;
  [created, sufficient, arrived, refusal] = [0, 0, 0, lacks];
});
const now = performance.now;
afterEach(() => {
  performance.now = now;
});

const issue = { owner: 'a', repo: 'b', issue_number: 1 };
const read = () => octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', issue);
const write = () =>
  octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...issue, body: 'x' });
const ask = () => octokit.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: 'x' });
/** Makes the clock show that an hour has passed. */
const later = () => {
  performance.now = () => now.call(performance) + 3_600_000;
};

test.each([
  ['read', read],
  ['write', write],
  ['query', ask],
])('a %s that the permissions of an old token refuse is sent once more with a new one', async (_what, send) => {
  await send();
  sufficient = 1;
  await send();
  expect([created, arrived]).toEqual([2, 3]);
  await send();
  expect([created, arrived]).toEqual([2, 4]);
});

test('a permission that is missing costs one more request and one token in a minute', async () => {
  sufficient = 99;
  for (const send of [read, write, ask, read]) await expect(send()).rejects.toThrow(lacks);
  expect([created, arrived]).toEqual([2, 5]);
  later();
  await expect(read()).rejects.toMatchObject({ status: 403 });
  expect([created, arrived]).toEqual([3, 7]);
});

test('requests that were refused at the same time share a new token', async () => {
  await read();
  [sufficient, awaited] = [1, 3];
  await Promise.all([read(), read(), read()]);
  expect([created, arrived]).toEqual([2, 7]);
});

test('another installation is not held back', async () => {
  sufficient = 99;
  await expect(read()).rejects.toMatchObject({ status: 403 });
  octokit = (await service.app.github?.asInstallation(++installation)) as Octokit;
  await expect(read()).rejects.toMatchObject({ status: 403 });
  expect([created, arrived]).toEqual([4, 4]);
});

test('what GitHub refuses for another reason is not sent again', async () => {
  [sufficient, refusal] = [99, 'Unable to create comment because issue is locked.'];
  await expect(write()).rejects.toMatchObject({ status: 403 });
  expect([created, arrived]).toEqual([1, 1]);
});
