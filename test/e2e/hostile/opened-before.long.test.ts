import { until } from '../../../demo/real-service.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

// A run in a public repository knows the content of a private one, which it may not show any more when it goes on or pushes.

type Calls = { name: string; arguments: object }[];
interface Run {
  id: string;
  status: string;
  failure: { message: string } | null;
}

let world: World;
/** What the model calls in each turn. */
let turns: Calls[] = [];
/** Resolves when the model is asked for its second turn, which waits for `go`. */
let reached: PromiseWithResolvers<void>;
let go: PromiseWithResolvers<void>;
beforeEach(async () => {
  [reached, go] = [Promise.withResolvers(), Promise.withResolvers()];
  world = await openWorld((_request, turn) => turns[Math.min(turn, turns.length - 1)] ?? 'Done.', {
    seed: { more: ['Docs'] },
    settings: { SANDBOX: 'off' },
    before: async (turn) => {
      if (turn !== 1) return;
      reached.resolve();
      await go.promise;
    },
  });
  await world.sql(`update repositories set is_private = true where name = 'Docs'`, []);
  await share(true);
});
afterEach(() => world.close());

const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
const share = (sharePrivateContext: boolean) => api('PATCH', `/projects/${world.project.id}`, { sharePrivateContext });
const call = (name: string, given: object) => [{ name, arguments: given }];
const copies = [
  call('write_file', { path: 'copied.txt', content: 'PRIVATE\n' }),
  call('finish', { summary: 'PRIVATE summary', nextSteps: [] }),
];
const runsOf = (id: string) => world.get<Run[]>(`/tasks/${id}/runs`);

/** Starts a task in the public repository whose run opens the private one. */
async function start(...calls: Calls[]): Promise<WorldTask> {
  turns = [call('open_repository', { name: 'Docs' }), ...calls];
  await world.issue('/agent start', { title: 'Opens' });
  return world.task();
}

async function pause(id: string): Promise<void> {
  await reached.promise;
  await api('POST', `/tasks/${id}/pause`);
  go.resolve();
  await until('the pause', async () => (await runsOf(id))[0]?.status === 'waiting');
}

/** Expects the newest run to fail, and the public repository to have nothing of the private one. */
async function expectNothingShown(id: string, why: string): Promise<void> {
  const [run] = await until('the runs to end', async () => {
    const runs = await runsOf(id);
    return runs.every(({ status }) => ['failed', 'succeeded'].includes(status)) && runs;
  });
  expect(run).toMatchObject({ status: 'failed', failure: { message: expect.stringContaining(why) } });
  const pulls = await world.github.as('mona')<object[]>('GET', '/repos/mona/sample/pulls?state=all');
  const branches = await world.github.as('mona')<{ name: string }[]>('GET', '/repos/mona/sample/branches');
  expect([pulls, branches.map(({ name }) => name)]).toEqual([[], ['main']]);
}

test('a repository that was disconnected while the run waited', async () => {
  const { id } = await start(...copies);
  await pause(id);
  await share(false);
  const all = await world.get<{ id: string; name: string }[]>('/repositories');
  await api('DELETE', `/repositories/${all.find(({ name }) => name === 'Docs')?.id}`);
  await api('POST', `/tasks/${id}/resume`);
  await expectNothingShown(id, 'has the content of a private repository');
});

test('a repository of which the run knows from the handoff of an earlier one', async () => {
  go.resolve();
  const { id } = await start(call('give_up', { reason: 'PRIVATE reason' }));
  await until('the first run to fail', async () => (await runsOf(id))[0]?.status === 'failed');
  [reached, go] = [Promise.withResolvers(), Promise.withResolvers()];
  turns = [call('list_files', {}), ...copies];
  await api('POST', `/tasks/${id}/retry`);
  await pause(id);
  await share(false);
  await api('POST', `/tasks/${id}/resume`);
  await expectNothingShown(id, 'has the content of a private repository');
});

test('a repository that may not be shown any more while the agent works', async () => {
  const { id } = await start(...copies);
  await reached.promise;
  await share(false);
  go.resolve();
  await expectNothingShown(id, 'nothing was pushed to sample');
});
