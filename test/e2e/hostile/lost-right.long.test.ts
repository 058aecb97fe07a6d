import { until } from '../../../demo/real-service.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

const call = (name: string, given: object) => [{ name, arguments: given }];
const turns = [
  call('open_repository', { name: 'Docs' }),
  call('ask_person', { question: 'Go on?', options: [] }),
  call('write_file', { path: 'made.txt', content: 'from Docs\n' }),
  call('finish', { summary: 'About Docs.', nextSteps: [] }),
];
let world: World;
beforeAll(async () => {
  world = await openWorld((_request, turn) => turns[Math.min(turn, turns.length - 1)] ?? 'Done.', {
    seed: { more: ['Docs'], isPrivate: true, people: ['mona', 'bob'] },
    settings: { SANDBOX: 'off' },
  });
});
afterAll(() => world.close());

interface Waiting extends WorldTask {
  issueNumber: number | null;
  attention: { id: string } | null;
}

test('a run does not go on with what it read where its director has lost the right while it waited', async () => {
  const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
  const [mona, bob] = [world.github.as('mona'), world.github.as('bob')];
  for (const name of ['sample', 'Docs'])
    await mona('PUT', `/repos/mona/${name}/collaborators/bob`, { permission: 'push' });
  const { number } = await bob<{ number: number }>('POST', '/repos/mona/sample/issues', { title: 'x', body: 'y' });
  await bob('POST', `/repos/mona/sample/issues/${number}/comments`, { body: '/agent start' });
  const { id, attention } = await until('the question', async () => {
    const tasks = await world.get<Waiting[]>(`/projects/${world.project.id}/tasks?limit=100`);
    return tasks.find((task) => task.issueNumber === number && task.attention !== null);
  });
  await mona('PUT', '/repos/mona/Docs/collaborators/bob', { permission: 'pull' });
  await api('POST', `/tasks/${id}/answer`, { id: attention?.id, text: 'Yes.' });
  const runs = await until('the run to end', async () => {
    const all = await world.get<{ status: string; failure: { message: string } | null }[]>(`/tasks/${id}/runs`);
    return all.every(({ status }) => ['failed', 'succeeded'].includes(status)) && all;
  });
  expect(runs.map(({ failure }) => failure?.message)).toEqual([
    expect.stringContaining('bob has no write permission in the repository Docs'),
  ]);
  expect(await world.get(`/tasks/${id}/prs`)).toEqual([]);
});
