import type { Fault } from '../../../demo/github/front-extras.ts';
import type { Script } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { isThorough, testSome } from '../../support/thorough.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

const repo = '/repos/mona/sample';
const script: Script = [
  [{ name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } }],
  [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }],
];

let world: World;
beforeAll(async () => {
  world = await openWorld(script, { settings: { SANDBOX: 'off' } });
});
afterAll(() => world.close());

const isWrite = (method: string, path: string) => method !== 'GET' && !/access_tokens$/.test(path);

/** Makes the nth write fail once; returns which one it was. */
function failNth(n: number, fault: Fault) {
  const seen: { hit?: string; writes: number } = { writes: 0 };
  world.github.fail((method, path) => {
    // test/e2e/faults/git.long.test.ts tests the faults of git.
    if (method === 'GIT') return undefined;
    if (!isWrite(method, path)) return undefined;
    seen.writes += 1;
    if (seen.writes !== n) return undefined;
    seen.hit = `${method} ${path}`;
    return fault;
  });
  return seen;
}

type Shown = WorldTask & { issueNumber: number };
const taskOf = async (number: number) =>
  (await world.get<Shown[]>(`/projects/${world.project.id}/tasks?limit=100`)).find((t) => t.issueNumber === number);
const own = (list: { user: { login: string } }[]) => list.filter((c) => c.user.login === 'deckhand[bot]');

/** Waits until GitHub shows the current state of the task, with nothing duplicated. */
async function shownOnce(number: number, status: string, label: string) {
  await until(`issue ${number} shown as ${status}`, async () => {
    const task = await taskOf(number);
    if (task?.status !== status) return false;
    const [labels, comments] = [await world.labels(number), own(await world.comments(number))];
    return labels.join() === label && comments.length > 0;
  });
  expect(own(await world.comments(number))).toHaveLength(1);
}

const kinds: [string, Fault][] = [
  ['a lost answer', 'lost'],
  ['403 with retry-after', { status: 403, headers: { 'retry-after': '1' } }],
  ['500', { status: 500 }],
  ['502', { status: 502 }],
  ['429', { status: 429, headers: { 'retry-after': '1' } }],
];

testSome(2, kinds)('%s at any write of a command: shown once, nothing twice', async (_name, fault) => {
  for (let n = 1; n <= 4; n++) {
    const seen = failNth(n, fault);
    const number = await world.issue('/agent create');
    await shownOnce(number, 'backlog', 'agent:backlog');
    expect(seen.hit).toBeDefined();
  }
});

testSome<[string, Fault]>(1, [
  ['404', { status: 404 }],
  ['422', { status: 422 }],
])('%s at any write of a command creates no duplicates', async (_name, fault) => {
  for (let n = 1; n <= 4; n++) {
    failNth(n, fault);
    const number = await world.issue('/agent create');
    await until('the task', () => taskOf(number));
    world.github.fail(() => undefined);
    // Reconciliation repeats the refused write.
    await until('the comment', async () => {
      await world.service.api(world.token, 'POST', '/agents/pool/reconcile');
      return own(await world.comments(number)).length > 0 && (await world.labels(number)).join() === 'agent:backlog';
    });
    expect(own(await world.comments(number))).toHaveLength(1);
  }
});

// A few of the writes; test/e2e/faults/kill-points loses the answers of all of them.
test.each([
  ['a lost answer', 'lost' as const, 3],
  ['500', { status: 500 }, 5],
])('%s at any write of a run: one branch, one pull request, one comment, one check', async (_name, fault, first) => {
  for (let n = first, isOver = false; !isOver; n += isThorough ? 4 : 12) {
    const seen = failNth(n, fault);
    const number = await world.issue('/agent start');
    await shownOnce(number, 'in_review', 'agent:in-review');
    const task = await taskOf(number);
    const pull = Number(/\d+$/.exec(task?.prUrl ?? '')?.[0]);
    await pullShownOnce(pull);
    const pulls = await world.github.as('mona')<{ head: { ref: string; sha: string } }[]>(
      'GET',
      `${repo}/pulls?per_page=100`,
    );
    const mine = pulls.filter((p) => p.head.ref === task?.branchName);
    expect(mine).toHaveLength(1);
    await until('the check', async () => (await checksOf(mine[0]?.head.sha ?? '', task?.id ?? '')).length > 0);
    expect(await checksOf(mine[0]?.head.sha ?? '', task?.id ?? '')).toHaveLength(1);
    isOver = seen.hit === undefined || n > 12;
  }
});

async function pullShownOnce(pull: number) {
  await until('the pull request to show it', async () => {
    const comments = own(await world.comments(pull));
    return comments.length > 0 && (await world.labels(pull)).join() === 'agent:in-review';
  });
  expect(own(await world.comments(pull))).toHaveLength(1);
}

async function checksOf(sha: string, taskId: string) {
  const path = `${repo}/commits/${sha}/check-runs`;
  const { check_runs } = await world.github.as('mona')<{ check_runs: { external_id: string }[] }>('GET', path);
  return check_runs.filter((c) => c.external_id === taskId);
}
