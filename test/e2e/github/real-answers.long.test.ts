import type { Fault } from '../../../demo/github/front-extras.ts';
import type { Script } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { openWorld, type World } from '../../support/world.ts';

const repo = '/repos/mona/sample';
const script: Script = [
  [{ name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } }],
  [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }],
];

/** This GitHub is a GitHub Enterprise Server behind a proxy: neither it nor its API is at the root of the host. */
let world: World;
let issue: number;
beforeAll(async () => {
  world = await openWorld(script, { settings: { SANDBOX: 'off' }, seed: { path: '/github' }, apiPath: '/api/v3' });
  world.github.decideLate(true);
  issue = await world.issue('/agent start');
  await world.taskIn('in_review');
});
afterAll(() => world.close());
afterEach(() => world.github.fail(() => undefined));

const say = (body: string) => world.github.as('mona')('POST', `${repo}/issues/${issue}/comments`, { body });
const saidBack = (text: string | RegExp) =>
  until(`a reply with ${text}`, async () => {
    const comments = await world.comments(issue);
    return comments.some(({ user, body }) => user.login === 'deckhand[bot]' && body.match(text) !== null);
  });
const failWhen = (pattern: RegExp, fault: Fault) =>
  world.github.fail((method, path) => (pattern.test(`${method} ${path}`) ? fault : undefined));

/** GitHub's words, from its documentation and from public reports. */
test.each<[string, number, string]>([
  ['behind its base', 409, 'Head branch is out of date. Review and try the merge again.'],
  ['for the merge queue', 405, 'Repository rule violations found: Changes must be made through the merge queue'],
  ['blocked by a rule', 405, 'At least 1 approving review is required by reviewers with write access.'],
  ['invalid', 422, 'Validation Failed'],
])('a merge that GitHub refuses, because the pull request is %s, is answered with the reason', async (_why, status, message) => {
  failWhen(/^PUT .*\/merge$/, { status, message });
  await say('/agent merge');
  await saidBack(message);
  expect((await world.task()).status).toBe('in_review');
});

test('a renamed repository is reached through the redirects to its id, for reading and for writing', async () => {
  const { id } = await world.github.as('mona')<{ id: number }>('GET', repo);
  const redirected = new Set<string>();
  world.github.fail((method, path) => {
    if (method === 'GIT' || !path.startsWith(`${repo}/`)) return undefined;
    redirected.add(method);
    const location = `${world.github.url}/api/v3/repositories/${id}${path.slice(repo.length)}`;
    return { status: method === 'GET' ? 301 : 307, headers: { location }, message: 'Moved Permanently' };
  });
  await say('/agent help');
  await saidBack('/agent budget');
  expect([...redirected].sort()).toEqual(expect.arrayContaining(['GET', 'POST']));
});

test('a page instead of an answer, and a secondary rate limit, only delay what is shown', async () => {
  let left = 2;
  world.github.fail((method, path) => {
    if (!/\/comments\/\d+$/.test(path) || method !== 'PATCH' || left-- <= 0) return undefined;
    if (left === 1) return { status: 502, html: '<!DOCTYPE html><title>Unicorn!</title>' };
    const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
    return { status: 403, headers: { 'retry-after': '1' }, message };
  });
  await say('/agent budget 3 usd');
  await until('the failures', () => Promise.resolve(left <= 0));
  await saidBack(/\$3/);
});

test('a pull request whose mergeability GitHub decided late is merged', async () => {
  await say('/agent merge');
  await world.taskIn('done');
});
