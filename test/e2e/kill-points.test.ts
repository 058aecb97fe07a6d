import { readdirSync } from 'node:fs';
import { until } from '../../src/demo/real-service.ts';
import { gitOut } from '../support/git.ts';
import { openWorld, type World, type WorldTask } from '../support/world.ts';

/** Every call of a run to the outside and every commit is a point; all of them: `KILL_POINTS=all npm test -- test/e2e/kill-points`. */
/** What is to be tried: `all`, or those in whose name it stands, such as `lost commit`; without it a few. */
const asked = process.env.KILL_POINTS;
const samples = 6;

let world: World;
/** Counts the calls of the service to GitHub, git and the model, and its commits; does something at one of them. */
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

/** The tables of a task and its run; what else is committed meanwhile comes and goes by the clock. */
const ofRuns = /\b(?:into|update|from)\s+"?(tasks|task_\w+|runs|run_\w+|handoffs|pull_requests|agents)\b/i;

function nameOf(statements: string[]): string | undefined {
  const tables = statements.flatMap((text) => ofRuns.exec(text)?.[1] ?? []);
  return tables.length === 0 ? undefined : `commit of ${[...new Set(tables)].join(', ')}`;
}

async function open() {
  const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
  const command = { name: 'run_command', arguments: { command: 'cat made.txt' } };
  world = await openWorld([[write], [command], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]], {
    before: async (turn) => {
      due(`model ${turn}`);
    },
    onCommit: (statements) => {
      const name = nameOf(statements);
      const fault = name === undefined ? undefined : due(name);
      return fault === undefined || fault === 'lost' ? fault : 'refused';
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
  const named = cases.map((each) => ({ ...each, name: `${each.kind} ${calls[each.at]}` }));
  const chosen = named.filter(({ name }, i) =>
    asked === undefined ? i % Math.ceil(cases.length / samples) === 3 : asked === 'all' || name.includes(asked),
  );
  const wrong: string[] = [];
  for (const [i, { kind, at, name }] of chosen.entries()) {
    // The emulator answers so many calls an hour only.
    if (i > 0 && i % 40 === 0) {
      await world.close();
      await open();
    }
    [how, target] = [kind, at];
    const began = performance.now();
    try {
      await expectOneOfEach(await play());
    } catch (error) {
      wrong.push(
        `${name}, call ${at} (now ${calls[at]}): ${(error as Error).message}\n${world.service.log().slice(-2000)}`,
      );
    }
    target = -1;
    if (asked === undefined) continue;
    process.stderr.write(`${name}, ${at}: ${wrong.at(-1) ?? ''}${Math.round(performance.now() - began)} ms\n`);
  }
  expect(wrong).toEqual([]);
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
