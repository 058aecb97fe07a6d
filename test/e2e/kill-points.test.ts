import { readdirSync } from 'node:fs';
import { until } from '../../src/demo/real-service.ts';
import { gitOut } from '../support/git.ts';
import { openWorld, type World, type WorldTask } from '../support/world.ts';

/** Every call of a run to the outside is a point; all take ten minutes: `KILL_POINTS=all npm test -- test/e2e/kill-points`. */
const isAll = process.env.KILL_POINTS === 'all' || process.env.KILL_POINTS === 'lost';
const samples = 4;

let world: World;
/** Counts the calls of the service to GitHub, git and the model, and does something at one of them. */
let calls: string[] = [];
let target = -1;
let how: 'before' | 'after' | 'lost' = 'before';
let isKilled = false;

/** What happens to the call that is due: nothing, refused after the kill, or done with its answer lost. */
function due(name: string) {
  calls.push(name);
  if (calls.length - 1 !== target) return undefined;
  if (how !== 'lost') {
    isKilled = true;
    world.service.process.kill('SIGKILL');
  }
  return how === 'before' ? { status: 502 } : ('lost' as const);
}

async function open() {
  const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
  const command = { name: 'run_command', arguments: { command: 'cat made.txt' } };
  world = await openWorld([[write], [command], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]], {
    before: async (turn) => {
      due(`model ${turn}`);
    },
  });
  world.github.fail((method, path) => due(`${method} ${path.replace(/\d{2,}|[0-9a-f]{40}/g, '#')}`));
}
beforeAll(open);
afterAll(() => world.close());

interface Shown extends WorldTask {
  issueNumber: number;
}

async function play(): Promise<Shown> {
  calls = [];
  isKilled = false;
  const number = await world.issue('/agent start');
  return until(`the task of issue ${number} in review`, async () => {
    if (isKilled) {
      isKilled = false;
      await world.restart();
    }
    const all = await world.get<Shown[]>(`/projects/${world.project.id}/tasks?limit=100`).catch(() => []);
    const task = all.find((t) => t.issueNumber === number);
    return task?.status === 'in_review' && task;
  });
}

async function expectOneOfEach(task: Shown): Promise<void> {
  expect(task.failure).toBeNull();
  const runs = await world.get<{ status: string }[]>(`/tasks/${task.id}/runs`);
  expect(runs.map((r) => r.status)).toEqual(['succeeded']);
  expect((await world.get<{ handoffs: unknown[] }>(`/tasks/${task.id}/handoffs`)).handoffs).toHaveLength(1);
  expect(await world.get<unknown[]>(`/tasks/${task.id}/prs`)).toHaveLength(1);
  const folder = world.github.folderOf('mona/sample');
  const branches = gitOut(
    folder,
    'for-each-ref',
    '--format=%(refname:short)',
    `refs/heads/agent/${task.id.slice(-8)}*`,
  );
  expect(branches).toBe(task.branchName);
  expect(gitOut(folder, 'rev-list', '--count', `main..${task.branchName}`)).toBe('1');
  const pulls = await world.github.as('mona')<{ head: { ref: string } }[]>(
    'GET',
    '/repos/mona/sample/pulls?state=all&per_page=100',
  );
  expect(pulls.filter((p) => p.head.ref === task.branchName)).toHaveLength(1);
  await until('one label and one comment', async () => {
    const labels = (await world.labels(task.issueNumber)).filter((l) => l.startsWith('agent:'));
    const own = (await world.comments(task.issueNumber)).filter((c) => c.user.login === 'deckhand[bot]');
    return labels.join() === 'agent:in-review' && own.length === 1;
  });
}

test('killed before or after any call to the outside, or its answer lost: one branch, one pull request, one handoff', async () => {
  const golden = await play();
  await expectOneOfEach(golden);
  const count = calls.length;
  expect(count).toBeGreaterThan(20);
  const points = Array.from({ length: count }, (_, i) => i);
  const cases = (['before', 'after', 'lost'] as const).flatMap((kind) => points.map((at) => ({ kind, at })));
  const wanted = process.env.KILL_POINTS === 'lost' ? cases.filter((c) => c.kind === 'lost') : cases;
  const chosen = isAll ? wanted : cases.filter((_, i) => i % Math.ceil(cases.length / samples) === 3);
  for (const [i, { kind, at }] of chosen.entries()) {
    // The emulator answers so many calls an hour only.
    if (i > 0 && i % 40 === 0) {
      await world.close();
      await open();
    }
    [how, target] = [kind, at];
    const task = await play().catch((error: Error) => {
      throw new Error(`${kind} call ${at} (${calls[at]}): ${error.message}\n${world.service.log().slice(-2000)}`);
    });
    target = -1;
    await expectOneOfEach(task);
  }
  await until('no workspace to be left', async () => {
    const left = ['/var/lib/deckhand/work/runs', `${world.settings.DATA_DIR}/runs`].flatMap((folder) => {
      try {
        return readdirSync(`${folder}/${world.service.process.pid}`);
      } catch {
        return [];
      }
    });
    return left.length === 0;
  });
}, 3_600_000);
