import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../demo/real-service.ts';
import { openWorld, type World } from '../../support/world.ts';
import { type Benchmark, pushHistory } from './history.ts';

/** A dozen tries of the checks take half a minute on an idle machine. */
const patienceMs = 500_000;

let world: World;
let root: string;
afterEach(async () => {
  await world.close();
  await rm(root, { recursive: true, force: true });
});

test('a harvest finds the changes whose tests fail before and pass after them, with what people wrote before', async () => {
  world = await openWorld(() => []);
  root = await mkdtemp(join(tmpdir(), 'deckhand-harvest-'));
  const { plain } = await pushHistory(world, root);
  const [{ id } = { id: '' }] = await world.get<{ id: string }[]>('/repositories');
  const path = `/repositories/${id}/benchmark`;
  const call = <T>(method: string, at: string, body?: object) => world.service.api<T>(world.token, method, at, body);
  await expect(world.get(path)).rejects.toThrow(`Benchmark of repository ${id} not found`);
  const began = await call<Benchmark>('POST', path, { most: 5 });
  expect(began).toMatchObject({ status: 'harvesting', looked: 0, items: [] });
  await expect(call('POST', path)).rejects.toThrow('A harvest of this repository is running');
  const ended = () =>
    until(
      'the harvest',
      async () => {
        const now = await world.get<Benchmark>(path);
        return now.status !== 'harvesting' && now;
      },
      patienceMs,
    );
  const found = await ended();
  expect(found).toMatchObject({ status: 'ready', reason: null, usable: 2 });
  const usable = found.items.filter(({ state }) => state === 'usable');
  expect(usable.map(({ title }) => title)).toEqual(['Adding five is missing', 'Add two']);
  expect(usable[0]).toMatchObject({
    tests: ['test/five.test.js'],
    singleTests: [],
    text: expect.stringMatching(/^We need to add five\.\s+See \S+\.$/),
  });
  expect(usable[0]?.removed).toEqual(expect.arrayContaining([expect.stringContaining('return value + 5')]));
  expect(usable[0]?.text).not.toContain('five.js');
  expect(usable[1]).toMatchObject({ solutionSha: plain, singleTests: ['add2 adds 2'], enabled: true });
  const rejected = found.items.filter(({ state }) => state === 'rejected');
  expect(rejected.map(({ title, reason }) => [title, reason])).toEqual([
    ['Right again', 'The checks fail on the commit before it.'],
    ['Wrong', 'The checks fail with it.'],
    ['Passes before', 'Its tests pass without it.'],
  ]);
  expect(found.dropped).toContainEqual({ reason: 'It adds or changes no test.', count: 1 });
  const item = usable[1]?.id;
  expect(await call('PATCH', `${path}/items/${item}`, { enabled: false })).toMatchObject({ id: item, enabled: false });
  expect(await world.get(`/projects/${world.project.id}/tasks`)).toEqual([]);
  // A second harvest keeps what is usable, and whether it is switched on.
  await call('POST', path, { most: 2 });
  const again = await ended();
  expect(again).toMatchObject({ status: 'ready', usable: 2 });
  expect(again.items.find(({ id: one }) => one === item)).toMatchObject({ enabled: false });
});
