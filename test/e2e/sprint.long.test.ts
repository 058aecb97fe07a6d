import type { ModelRequest, Said } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { awayFromMidnight, inDays } from '../support/machine/midnight.ts';
import { openWorld, type World } from '../support/world.ts';

const repo = '/repos/mona/sample';
let world: World;
let failsOnce = true;
/** Answers so that every task writes its own file, and "Fragile" gives up at its first attempt. */
function says(request: ModelRequest, turn: number): Said {
  const title = /# Task: (.+)/.exec(JSON.stringify(request.messages).replaceAll('\\n', '\n'))?.[1]?.trim() ?? 'x';
  if (title === 'Fragile' && failsOnce) {
    failsOnce = false;
    return [{ name: 'give_up', arguments: { reason: 'which colour?' } }];
  }
  if (turn === 0) return [{ name: 'write_file', arguments: { path: `${title}.txt`, content: `${title}\n` } }];
  return [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];
}

beforeAll(async () => {
  world = await openWorld(says, { settings: { MAX_CONCURRENT_RUNS: '4', SANDBOX: 'off' } });
});
afterAll(() => world.close());

const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
interface Shown {
  id: string;
  title: string;
  status: string;
  prUrl: string | null;
  failure: { category: string } | null;
}

/**
 *        ┌ B ┐
 *   A ───┤   ├── D          F ── Fragile ── G      H alone: eight in all
 *        └ C ┘
 */
const needs: Record<string, string[]> = {
  A: [],
  B: ['A'],
  C: ['A'],
  D: ['B', 'C'],
  F: [],
  Fragile: ['F'],
  G: ['Fragile'],
  H: [],
};

test('eight tasks get done in the order of their dependencies; a person merges, and one task fails once', async () => {
  await awayFromMidnight();
  const { id: projectId } = world.project;
  const sprint = await createSprint(projectId);
  const tasks = () => world.get<Shown[]>(`/sprints/${sprint}/tasks?limit=100`);
  const fragile = async () => (await tasks()).find((t) => t.title === 'Fragile');
  const { inState, merge } = reviewsOf(tasks);
  //                                  total done doing left  percent  open ideal
  expect(await figures(sprint)).toEqual([8, 0, 0, 8, 0, 8, 8]);
  await api('POST', `/sprints/${sprint}/start`);
  await inState('in_review', 'A', 'F', 'H');
  expect(await figures(sprint)).toEqual([8, 0, 3, 8, 0, 8, 8]);
  await merge('A', 'H');
  await inState('in_review', 'B', 'C');
  expect(await figures(sprint)).toEqual([8, 2, 3, 6, 25, 6, 8]);
  await merge('B');
  // D also depends on C.
  expect((await tasks()).find((t) => t.title === 'D')?.status).toBe('backlog');
  await merge('F');
  const failed = await until('the failure', async () => {
    const task = await fragile();
    return task?.failure?.category === 'gave_up' && task;
  });
  expect(failed.status).toBe('ready');
  await merge('C');
  await inState('in_review', 'D');
  // The failed task did not stop the others, and only a person can restart it.
  expect(await figures(sprint)).toEqual([8, 5, 1, 3, 62.5, 3, 8]);
  await merge('D');
  expect((await fragile())?.status).toBe('ready');
  await api('POST', `/tasks/${failed.id}/retry`, { text: 'Blue.' });
  await merge('Fragile');
  // A task that is added later increases the sprint's total from then on.
  const late = await api<Shown>('POST', `/projects/${projectId}/tasks`, { title: 'Late', sprintId: sprint });
  expect(await figures(sprint)).toEqual([9, 7, expect.any(Number), 2, 77.8, 2, 9]);
  await api('DELETE', `/sprints/${sprint}/tasks/${late.id}`);
  await merge('G');
  expect(await figures(sprint)).toEqual([8, 8, 0, 0, 100, 0, 8]);
  await expectEnd(projectId, sprint);
});

/** Creates the sprint with the eight tasks, distributed over all agents; returns its id. */
async function createSprint(projectId: string): Promise<string> {
  const agents = await world.get<{ id: string }[]>('/agents');
  const { id } = await api<{ id: string }>('POST', `/projects/${projectId}/sprints`, {
    name: 'Eight',
    startDate: inDays(0),
    endDate: inDays(4),
  });
  await api('POST', `/projects/${projectId}/tasks/bulk`, {
    tasks: Object.entries(needs).map(([title, dependsOn], i) => ({
      ref: title,
      title,
      dependsOn,
      owner: agents[i % agents.length]?.id,
      sprintId: id,
    })),
  });
  return id;
}

/** Returns the metrics of the sprint, and today's point of its burndown. */
async function figures(sprint: string) {
  const m = await world.get<Record<string, number>>(`/sprints/${sprint}/metrics`);
  const [today] = await world.get<{ actual: number; ideal: number }[]>(`/sprints/${sprint}/burndown`);
  return [
    m.totalTasks,
    m.completedTasks,
    m.inProgressTasks,
    m.remainingTasks,
    m.completionPercentage,
    today?.actual,
    today?.ideal,
  ];
}

function reviewsOf(tasks: () => Promise<Shown[]>) {
  const inState = (status: string, ...titles: string[]) =>
    until(`${titles} ${status}`, async () => {
      const now = (await tasks()).filter((t) => titles.includes(t.title));
      return now.length === titles.length && now.every((t) => t.status === status) && now;
    });
  const merged: string[] = [];
  /** Waits until these tasks are in review, merges them, and waits until they are done. */
  const merge = async (...titles: string[]) => {
    for (const task of await inState('in_review', ...titles)) {
      for (const need of needs[task.title] ?? []) expect(merged).toContain(need);
      await world.github.as('mona')('PUT', `${repo}/pulls/${/\d+$/.exec(task.prUrl ?? '')?.[0]}/merge`, {});
      merged.push(task.title);
    }
    await inState('done', ...titles);
  };
  return { inState, merge };
}

async function expectEnd(projectId: string, sprint: string): Promise<void> {
  expect((await api<{ status: string }>('POST', `/sprints/${sprint}/complete`)).status).toBe('completed');
  expect(await world.get(`/projects/${projectId}/velocity`)).toEqual([
    { sprintId: sprint, name: 'Eight', velocity: 8 },
  ]);
  const digest = await world.get<{ completed: string[]; failed: unknown[] }>(`/sprints/${sprint}/digest`);
  expect([digest.completed.length, digest.failed]).toEqual([8, []]);
}
