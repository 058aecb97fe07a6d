import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../../../demo/github/front-extras.ts';
import { until } from '../../../demo/real-service.ts';
import { handsOf } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { testSome } from '../../support/thorough.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

let world: World;
/** Called once, before the model's second turn: after the clone and before the push. */
let meanwhile: () => unknown = () => {};
const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };

beforeAll(async () => {
  world = await openWorld([[write], [finish]], {
    before: async (turn) => {
      if (turn !== 1) return;
      await meanwhile();
      meanwhile = () => {};
    },
    settings: { REMOTE_RETRY_SECONDS: '1200', MAX_CONCURRENT_RUNS: '1', SANDBOX: 'off' },
  });
});
afterAll(() => world.close());

const call = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
const bare = () => world.github.folderOf('mona/sample');

async function start(): Promise<string> {
  const [agent] = await call<{ id: string }[]>('GET', `/agents?projectId=${world.project.id}`);
  const body = { title: 'Make a file', owner: agent?.id };
  const { id } = await call<{ id: string }>('POST', `/projects/${world.project.id}/tasks`, body);
  await call('POST', `/tasks/${id}/start`);
  return id;
}

/** Starts a task and waits until its run has ended. */
const run = async () => ended(await start());

/** Returns the log of the task's newest run. */
async function logOf(id: string): Promise<string[]> {
  const [newest] = await call<{ id: string }[]>('GET', `/tasks/${id}/runs`);
  return (await call<{ text: string }[]>('GET', `/runs/${newest?.id}/events`)).map((event) => event.text);
}

const toldOf = (id: string, what: RegExp) =>
  until(`${what} in the log`, async () => (await logOf(id)).find((text) => what.test(text)));

/** Makes git fail from the moment when the agent has finished its work. */
function fromThePushOn(fault: Fault) {
  meanwhile = () => world.github.fail((method) => (method === 'GIT' ? fault : undefined));
}
const isBackAgain = () => world.github.fail(() => undefined);

const ended = (id: string) =>
  until(`the end of the run of ${id}`, async () => {
    const task = await call<WorldTask>('GET', `/tasks/${id}`);
    return task.status !== 'in_progress' && task;
  });

test('a push that the remote declines fails with push_rejected and its message; when it accepts, a retry pushes the same work', async () => {
  const hook = join(bare(), 'hooks/pre-receive');
  writeFileSync(hook, '#!/bin/sh\necho GH006: Protected branch update failed >&2\nexit 1\n', { mode: 0o755 });
  const failed = await run();
  rmSync(hook);
  expect(failed).toMatchObject({ status: 'ready', prUrl: null, failure: { category: 'push_rejected' } });
  expect(failed.failure?.message).toMatch(/declined|rejected|GH006/);
  await call('POST', `/tasks/${failed.id}/retry`);
  expect(await ended(failed.id)).toMatchObject({ status: 'in_review', failure: null });
});

testSome<[string, Fault, RegExp]>(1, [
  ['is unavailable', { status: 503 }, /HTTP 503; trying again in 1 s/],
  ['answers with a page', { status: 200, headers: { 'content-type': 'text/html' } }, /text\/html.*; trying again/],
  ['wants to be left alone', { status: 429, headers: { 'retry-after': '3' } }, /HTTP 429; trying again in 3 s/],
])(
  'when a git host %s and GitHub is unavailable, a run is delayed and opens one pull request',
  async (_what, fault, told) => {
    fromThePushOn(fault);
    const id = await start();
    await toldOf(id, told);
    world.github.fail((method, path) => (method !== 'GIT' && /\/pulls\b/.test(path) ? { status: 502 } : undefined));
    await toldOf(id, /GitHub answered HTTP 502.*; trying again in 1 s/);
    isBackAgain();
    const task = await ended(id);
    expect(task).toMatchObject({ status: 'in_review', failure: null });
    const path = '/repos/mona/sample/pulls?state=all&per_page=100';
    const pulls = await world.github.as('mona')<{ head: { ref: string } }[]>('GET', path);
    expect(pulls.filter((p) => p.head.ref === task.branchName)).toHaveLength(1);
  },
);

test('a cancel also ends a pause between attempts: the slot is released immediately, and nothing is pushed', async () => {
  // Longer than the test waits.
  fromThePushOn({ status: 429, headers: { 'retry-after': '900' } });
  const id = await start();
  await toldOf(id, /trying again in 900 s/);
  expect(await call('POST', `/tasks/${id}/cancel`)).toMatchObject({ status: 'ready' });
  isBackAgain();
  const next = await start();
  await toldOf(next, /begins/);
  expect(await ended(next)).toMatchObject({ status: 'in_review' });
  expect(gitOut(bare(), 'for-each-ref', `refs/heads/agent/${id.slice(-8)}*`)).toBe('');
});

test('a token that expires and a force-push to the base branch while the agent works do not disturb the run', async () => {
  const { github } = world;
  const [used, spent] = [new Set<string>(), new Set<string>()];
  github.fail((method, _path, token) => {
    if (method !== 'GIT') return undefined;
    used.add(token);
    return spent.has(token) ? { status: 401 } : undefined;
  });
  github.tokensEndIn(300);
  const tree = gitOut(bare(), 'rev-parse', 'main^{tree}');
  const below = gitOut(bare(), 'rev-parse', 'main');
  // No other branch has the commit that the run starts from.
  const on = (message: string) => gitOut(bare(), 'commit-tree', tree, '-p', below, '-m', message);
  gitOut(bare(), 'update-ref', 'refs/heads/main', on('to be rewritten'));
  await github.showBranches('mona/sample');
  meanwhile = async () => {
    for (const token of used) spent.add(token);
    const rewritten = on('rewritten');
    gitOut(bare(), 'update-ref', 'refs/heads/main', rewritten);
    await github.showBranches('mona/sample');
  };
  const task = await run();
  github.fail(() => undefined);
  github.tokensEndIn();
  expect(task).toMatchObject({ status: 'in_review', failure: null });
  // The search for collisions of an earlier task, and a comparison with GitHub, may have tokens of their own.
  expect(spent.size).toBeGreaterThan(0);
  expect(spent).not.toContain(github.pushes.at(-1)?.token);
  expect(gitOut(bare(), 'show', `${task.branchName}:made.txt`)).toBe('x');
});

test('cancel does not wait for a slow push; if the branch appears later, the next run continues from it', async () => {
  // A signed commit comes to its branch by the API. Here, git pushes it.
  await handsOf(world).push('main', '.deckhand.yml', 'verified: never\n');
  const hook = join(bare(), 'hooks/pre-receive');
  const [isHere, goOn] = [join(bare(), 'hook-runs'), join(bare(), 'hook-ends')];
  const wait = `while [ -d ${bare()} ] && [ ! -e ${goOn} ]; do sleep 0.1; done`;
  writeFileSync(hook, `#!/bin/sh\ntouch ${isHere}\n${wait}\n`, { mode: 0o755 });
  const id = await start();
  await until('the push', async () => existsSync(isHere));
  expect(await call('POST', `/tasks/${id}/cancel`)).toMatchObject({ status: 'ready' });
  writeFileSync(goOn, '');
  await until('the branch', async () => gitOut(bare(), 'for-each-ref', `refs/heads/agent/${id.slice(-8)}*`) !== '');
  rmSync(hook);
  await call('POST', `/tasks/${id}/start`);
  expect(await ended(id)).toMatchObject({ status: 'in_review', failure: null });
  await handsOf(world).push('main', '.deckhand.yml', '{}\n');
});

test("another person's commit on the branch is never overwritten", async () => {
  let theirs = '';
  const task = await run();
  meanwhile = async () => {
    const branch = `refs/heads/${task.branchName}`;
    const tree = gitOut(bare(), 'rev-parse', `${branch}^{tree}`);
    theirs = gitOut(bare(), 'commit-tree', tree, '-p', branch, '-m', 'theirs');
    gitOut(bare(), 'update-ref', branch, theirs);
    await world.github.showBranches('mona/sample');
  };
  await call('POST', `/tasks/${task.id}/revise`, { text: 'once more' });
  const after = await ended(task.id);
  expect(gitOut(bare(), 'log', '--format=%H', after.branchName ?? '').split('\n')).toContain(theirs);
});

test('a missing default branch fails with repository, and the message says what to do', async () => {
  const [repository] = await call<{ id: string }[]>('GET', `/repositories?projectId=${world.project.id}`);
  await call('PATCH', `/repositories/${repository?.id}`, { defaultBranch: 'trunk' });
  const { failure } = await run();
  expect(failure).toMatchObject({
    category: 'repository',
    message: 'the repository has no branch trunk; set its default branch to main',
  });
});

test('a run waits for a git host that remains unavailable, and goes on when it is back', async () => {
  await world.service.stop();
  world.settings.REMOTE_RETRY_SECONDS = '5';
  await world.restart();
  const [repository] = await call<{ id: string }[]>('GET', `/repositories?projectId=${world.project.id}`);
  await call('PATCH', `/repositories/${repository?.id}`, { defaultBranch: 'main' });
  fromThePushOn({ status: 503 });
  const id = await start();
  const { attention } = await until('the wait', async () => {
    const task = await call<WorldTask & { attention: { reason: string; text: string } | null }>('GET', `/tasks/${id}`);
    return task.attention !== null && task;
  });
  expect(attention).toMatchObject({ reason: 'host', text: expect.stringContaining('HTTP 503') });
  expect(await logOf(id)).toContainEqual(expect.stringMatching(/HTTP 503; trying again in 1 s$/));
  isBackAgain();
  expect(await ended(id)).toMatchObject({ status: 'in_review', failure: null });
});
