import { offers } from '../../../demo/model/model.ts';
import { gitOut } from '../../support/git.ts';
import { attempt, itemOf, openTrialWorld, promptOf } from './trial-world.ts';

const skilled = 'You are SKILLED.';
type World = Awaited<ReturnType<typeof openTrialWorld>>;
let world: World;
beforeAll(async () => {
  world = await openTrialWorld(
    (request, turn) => attempt(request, turn, promptOf(request).includes(skilled) || itemOf(request) % 2 === 1),
    { items: 4 },
  );
});
afterAll(() => world.close());

test('a trial tells which items an agent solves, and nothing of it is on GitHub', async () => {
  const refs = () => gitOut(world.github.folderOf('mona/sample'), 'for-each-ref');
  const before = refs();
  const started = await world.start({ items: 3 });
  expect(started).toMatchObject({ status: 'running', planned: 3, agentId: world.agentId });
  const trial = await world.ended(started.id);
  const results = trial.items.map(({ itemId, result }) => [itemId, result]);
  expect(trial).toMatchObject({ status: 'done', reason: 'Every item was tried.', of: 3 });
  for (const [itemId, result] of results)
    expect([itemId, result]).toEqual([itemId, Number(itemId?.slice(-1)) % 2 === 1 ? 'solved' : 'unsolved']);
  expect(new Set(results.map(([id]) => id)).size).toBe(3);
  expect(trial.costUsd).toBeGreaterThan(0);
  expect(refs()).toBe(before);
  expect(await world.get(`/projects/${world.project.id}/tasks`)).toEqual([]);
  const [first] = trial.items;
  expect(await world.get(`/runs/${first?.runId}`)).toMatchObject({ kind: 'trial', status: 'succeeded' });
  const asked = world.model.requests.filter((request) => itemOf(request) > 0);
  for (const tool of ['ask_person', 'open_repository', 'create_subtasks', 'propose_plan'])
    expect(asked.some((request) => offers(request, tool))).toBe(false);
});
