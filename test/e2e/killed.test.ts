import { until } from '../../src/demo/real-service.ts';
import { issue, script } from '../../src/demo/story.ts';
import { gitOut } from '../support/git.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let asked = 0;
let held: Promise<void> = new Promise(() => {});
let release = () => {};

beforeAll(async () => {
  held = new Promise((resolve) => {
    release = resolve;
  });
  world = await openWorld(script, {
    before: async (turn) => {
      asked += 1;
      if (turn === 3) await held;
    },
  });
});
afterAll(() => world.close());

test('killed in the middle of the conversation, the run is finished by the next process: one branch, one pull request', async () => {
  const number = await world.issue('/agent start', issue);
  await until('the third turn', async () => asked === 4);
  await world.service.stop('SIGKILL');
  release();
  await world.restart();
  const task = await world.taskIn('in_review');
  expect(task).toMatchObject({ runCount: 1, failure: null });
  const pulls = await world.github.as('mona')<unknown[]>('GET', '/repos/mona/sample/pulls?state=all');
  expect(pulls).toHaveLength(1);
  const bare = world.github.folderOf('mona/sample');
  expect(gitOut(bare, 'for-each-ref', '--format=%(refname:short)').split('\n')).toEqual([task.branchName, 'main']);
  // The work of the turns before the kill is in the commit, and the model was not asked for them again.
  expect(gitOut(bare, 'diff', '--numstat', `main...${task.branchName}`)).toBe(
    '2\t0\tsrc/slugify.js\n4\t0\ttest/slugify.test.js',
  );
  expect(asked).toBe(4 + 2);
  const { handoffs } = await world.get<{ handoffs: unknown[] }>(`/tasks/${task.id}/handoffs`);
  expect(handoffs).toHaveLength(1);
  await until('one label', async () => (await world.labels(number)).join() === 'agent:in-review');
  expect((await world.comments(number)).filter((c) => c.user.login === 'deckhand[bot]')).toHaveLength(1);
});
