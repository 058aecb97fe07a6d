import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
});
afterAll(() => face.world.close());

interface Run {
  id: string;
  status: string;
  failure: { message: string } | null;
}

test.each([
  'retry',
  'rewind',
])('a %s of a task that goes into another branch now brings no commits of the former one along', async (how) => {
  const { world, plays, push } = face;
  const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
  const runsOf = (id: string) => world.get<Run[]>(`/tasks/${id}/runs`);
  const ended = (id: string, count: number) =>
    until(`${count} runs to end`, async () => {
      const runs = await runsOf(id);
      return runs.length === count && runs.every(({ status }) => ['failed', 'succeeded'].includes(status)) && runs;
    });
  await push('main', '.deckhand.yml', `# ${how}\nchecks: "true"\n`);
  gitOut(world.github.folderOf('mona/sample'), 'branch', '-f', 'feature', 'main');
  await world.github.showBranches('mona/sample');
  await push('feature', `unseen-${how}.sh`, 'evil=yes\n');
  const [repository] = await world.get<{ id: string }[]>('/repositories');
  const owner = (await world.get<{ id: string; name: string }[]>('/agents')).find(
    ({ name }) => name === 'Developer',
  )?.id;
  const task = await api<{ id: string }>('POST', `/projects/${world.project.id}/tasks`, {
    ...{ title: how, owner, status: 'ready', repositoryId: repository?.id, base: 'feature' },
  });
  await api('PATCH', `/projects/${world.project.id}`, { push: 'approved' });
  plays([write('made.txt', 'x\n')], [{ name: 'give_up', arguments: { reason: 'too hard' } }]);
  await api('POST', `/tasks/${task.id}/start`);
  const [first] = await ended(task.id, 1);
  await api('PATCH', `/projects/${world.project.id}`, { push: 'free' });
  await api('PATCH', `/tasks/${task.id}`, { base: 'main' });
  plays('', [write('more.txt', 'x\n')], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]);
  await (how === 'retry'
    ? api('POST', `/tasks/${task.id}/retry`)
    : api('POST', `/tasks/${task.id}/rewind`, { runId: first?.id, turn: 1 }));
  const runs = await ended(task.id, 2);
  const diff = await world.get<{ files: { path: string }[] }>(`/tasks/${task.id}/diff`).catch(() => ({ files: [] }));
  expect(diff.files.map(({ path }) => path)).not.toContain(`unseen-${how}.sh`);
  const failures = runs.map(({ failure }) => failure?.message ?? '');
  if (how === 'rewind')
    expect(failures.join()).toContain('the branch main does not have the commit from which the run began');
  else expect(diff.files.map(({ path }) => path)).not.toContain('made.txt');
});
