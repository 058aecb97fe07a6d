import { textOf } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { handsOf, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

let world: World;
/** The subtask's first run waits for this at the model. */
const held = Promise.withResolvers<void>();
let isSplit = false;
beforeAll(async () => {
  world = await openWorld(
    (request, turn) => {
      const first = textOf(request);
      const finish = [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];
      const writes = (path: string) => (turn === 0 ? [write(path, 'x\n')] : finish);
      if (first.includes('SUBTASK')) return first.includes('ATTACKER') ? writes('unseen.txt') : finish;
      if (first.includes('VICTIM')) return writes('seen.txt');
      if (!first.includes('ATTACKER')) return finish;
      const subtasks = [{ title: 'SUBTASK one', description: 'SUBTASK' }];
      if (turn === 0) return [write('own.txt', 'x\n')];
      isSplit = true;
      return [{ name: 'create_subtasks', arguments: { subtasks } }];
    },
    { settings: { SANDBOX: 'off' }, before: async () => (isSplit ? held.promise : undefined) },
  );
});
afterAll(() => world.close());

type Shown = WorldTask & { merging: { state: string } | null };
const git = (...args: string[]) => gitOut(world.github.folderOf('mona/sample'), ...args);
const get = (id: string) => world.get<Shown>(`/tasks/${id}`);
const taskThat = (what: string, is: (task: WorldTask) => boolean) =>
  until(what, async () => (await world.get<WorldTask[]>(`/projects/${world.project.id}/tasks?limit=100`)).find(is));

/** GitHub makes and signs the commits of runs for the same bot for which it updates branches. */
test('a merge that GitHub made for the run of another task is no update of the branch', async () => {
  const hands = handsOf(world);
  await world.issue('/agent start', { title: 'VICTIM', body: 'VICTIM' });
  const { id, branchName } = await world.taskIn('in_review');
  const victim = branchName ?? '';
  world.github.rare.isBlocked = true;
  await world.service.api(world.token, 'POST', `/tasks/${id}/merge`, { when: 'ready' });
  expect((await get(id)).merging?.state).toBe('waiting');

  // The branch of another task moves to the agreed commit. Its next run merges main into that, with what its agent wrote.
  await hands.push('main', 'moved.txt', 'x\n');
  await world.issue('/agent start', { title: 'ATTACKER', body: 'ATTACKER' });
  const { id: subtask } = await taskThat(
    'its subtask',
    (task) => task.title.startsWith('SUBTASK') && task.runCount === 1,
  );
  const split = await taskThat(
    'the split',
    ({ title, branchName: name }) => title.startsWith('ATTACKER') && name !== null,
  );
  const other = split.branchName ?? '';
  await world.service.api(world.token, 'POST', `/tasks/${subtask}/cancel`);
  await hands.inClone(victim, other, true, async () => {});
  held.resolve();
  await world.service.api(world.token, 'POST', `/tasks/${subtask}/start`);
  const agreed = git('rev-parse', victim);
  await until('its merge', async () => git('log', '-1', '--format=%P', other).startsWith(`${agreed} `));
  expect(git('log', '-1', '--format=%an %cn', other)).toBe('deckhand[bot] GitHub');
  expect((await get(id)).merging?.state).toBe('waiting');

  // A fast-forward brings that commit to the branch whose merge waits.
  await hands.inClone(other, victim, false, async () => {});
  await until('the decision', async () => {
    const [row] = await world.sql<{ state: string | null; isAgreed: boolean }>(
      'select state, head_sha is not distinct from $1 as "isAgreed" from merges',
      [git('rev-parse', victim)],
    );
    return row?.state === null || row?.isAgreed;
  });
  expect((await get(id)).merging).toBeNull();
  world.github.rare.isBlocked = false;
  await world.github.merges.settle();
  expect(git('ls-tree', '-r', '--name-only', 'main').split('\n')).not.toContain('unseen.txt');
  expect((await get(id)).status).toBe('in_review');
});
