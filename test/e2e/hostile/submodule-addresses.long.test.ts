import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, write } from '../../support/face.ts';
import { gitAsync, gitOut } from '../../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace({ seed: { more: ['Docs'] } });
  await until('both repositories', async () => (await face.world.get<unknown[]>('/repositories')).length === 2);
});
afterAll(() => face.world.close());

test('an agent does not choose what the service fetches: a new address of a submodule is refused before any check', async () => {
  const { world, plays, say, taskOf } = face;
  const docs = gitOut(world.github.folderOf('mona/Docs'), 'rev-parse', 'main');
  await face.inClone('main', 'main', false, async (clone) => {
    await gitAsync(clone, 'config', '-f', '.gitmodules', 'submodule.docs.path', 'docs');
    await gitAsync(clone, 'config', '-f', '.gitmodules', 'submodule.docs.url', '../Docs');
    await gitAsync(clone, 'update-index', '--add', '--cacheinfo', `160000,${docs},docs`);
    await gitAsync(clone, 'add', '.gitmodules');
    await gitAsync(clone, 'commit', '-q', '-m', 'by a person');
  });
  await face.push('main', '.deckhand.yml', 'checks: ["true"]\ncheckout: { submodules: true }\n');
  const finish = [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];
  const stolen = '[submodule "docs"]\n\tpath = docs\n\turl = ../what-the-agent-read\n';
  plays([write('.gitmodules', stolen), write('a.txt', 'x\n')], finish, finish, finish);
  const number = await world.issue('/agent create');
  await taskOf(number);
  await say(number, '/agent start');
  const failed = await until('the failure', async () => {
    const task = await taskOf(number);
    return task.failure !== null && task.failure !== undefined && task;
  });
  expect(failed.failure).toMatchObject({
    category: 'push_rejected',
    message: expect.stringContaining(
      '.gitmodules is protected by default, because it makes git fetch from other hosts',
    ),
  });
  // The files of the submodule were there, and nothing was exported for a check, which would have fetched the new address.
  expect(JSON.stringify(world.model.requests[0]?.messages)).toContain('docs/README.md');
  const [run] = await world.get<{ id: string }[]>(`/tasks/${failed.id}/runs`);
  const events = await world.get<{ type: string; text: string }[]>(`/runs/${run?.id}/events`);
  expect(events.filter(({ type, text }) => type === 'check' || text.includes('what-the-agent-read'))).toEqual([]);
});
