import { until } from '../../demo/real-service.ts';
import { type Face, openFace, write } from '../support/face.ts';
import { gitAsync, gitOut } from '../support/git.ts';

// Everything of the account is private. Mona may write everywhere, bob only to the task's repository.
let face: Face;
const settings = (lines: string) => `checkout: { submodules: true }\n${lines}`;

beforeAll(async () => {
  face = await openFace({ seed: { more: ['Docs'], isPrivate: true, people: ['mona', 'bob'] } });
  const { world, mona, push, inClone } = face;
  await until('both repositories', async () => (await world.get<unknown[]>('/repositories')).length === 2);
  const docs = gitOut(world.github.folderOf('mona/Docs'), 'rev-parse', 'main');
  await inClone('main', 'main', false, async (clone) => {
    await gitAsync(clone, 'config', '-f', '.gitmodules', 'submodule.docs.path', 'docs');
    await gitAsync(clone, 'config', '-f', '.gitmodules', 'submodule.docs.url', '../Docs');
    await gitAsync(clone, 'update-index', '--add', '--cacheinfo', `160000,${docs},docs`);
    await gitAsync(clone, 'add', '.gitmodules');
    await gitAsync(clone, 'commit', '-q', '-m', 'by a person');
  });
  // Set-up keeps a file of the submodule, which is ignored in the repository.
  await push('main', '.gitignore', 'kept/\n');
  await push('main', '.deckhand.yml', settings('setup: mkdir kept; cp docs/README.md kept/ || true\n'));
  await mona('PUT', '/repos/mona/sample/collaborators/bob', { permission: 'push' });
});
afterAll(() => face.world.close());

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };

async function startedBy(who: string): Promise<number> {
  const { as, say, taskOf } = face;
  const { number } = await as(who)<{ number: number }>('POST', '/repos/mona/sample/issues', { title: 'x', body: 'y' });
  await say(number, '/agent start', who);
  await taskOf(number);
  return number;
}

const eventsOf = async (taskId: string) => {
  const [run] = await face.world.get<{ id: string }[]>(`/tasks/${taskId}/runs`);
  return face.world.get<{ type: string; text: string }[]>(`/runs/${run?.id}/events`);
};

test('a private submodule is there for people who may write to it, and for nobody else, also not as a kept result', async () => {
  const { world, plays, settled } = face;
  const look = {
    name: 'run_command',
    arguments: { command: 'cat docs/README.md kept/README.md; git config --list; env' },
  };
  plays([look, write('made.txt', 'x\n')], [finish], [finish]);
  const task = await settled(await startedBy('mona'), 'in_review', 1);
  const asked = JSON.stringify(world.model.requests.at(-1)?.messages);
  expect(asked.split('slugify').length).toBeGreaterThan(2);
  expect(asked).not.toMatch(/ghs_/);
  expect((await eventsOf(task.id)).filter(({ text }) => /ghs_/.test(text))).toEqual([]);

  // Nothing of this run's may be used for bob's: the set-up of the base commit needs the submodule.
  const before = world.model.requests.length;
  const failed = await settled(await startedBy('bob'), 'ready', 1);
  expect(failed.failure).toMatchObject({
    category: 'repository',
    message: expect.stringMatching(
      /^the submodule docs: .*\/mona\/Docs is private: bob has no write permission in the repository Docs\. /,
    ),
  });
  expect(world.model.requests).toHaveLength(before);

  // Mona's next run finds it.
  plays([look, write('more.txt', 'x\n')], [finish], [finish]);
  const third = await settled(await startedBy('mona'), 'in_review', 1);
  expect((await eventsOf(third.id)).map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^restored the environment/),
  );

  // The submodule is removed. What set-up kept of it does not come back for bob.
  await face.inClone('main', 'main', false, async (clone) => {
    await gitAsync(clone, 'rm', '-q', 'docs', '.gitmodules');
    await gitAsync(clone, 'commit', '-q', '-m', 'by a person');
  });
  plays(
    [{ name: 'run_command', arguments: { command: 'ls -a kept; echo listed' } }, write('own.txt', 'x\n')],
    [finish],
    [finish],
  );
  const last = await settled(await startedBy('bob'), 'in_review', 1);
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).not.toContain('slugify(');
  const texts = (await eventsOf(last.id)).map(({ text }) => text);
  expect(texts).toContain('the kept environment is not used, because it may hold files of a private submodule');
  expect(texts).not.toContainEqual(expect.stringMatching(/^restored/));
});
