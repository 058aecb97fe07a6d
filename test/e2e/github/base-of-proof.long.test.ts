import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
});
afterAll(() => face.world.close());

const folder = () => face.world.github.folderOf('mona/sample');
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const settings = 'checks: for t in *.test; do sh ./$t || exit 1; done\ntests: ["*.test"]\nproof: required\n';

test('a pull request that moves to another base is not ready, and the proof for its old base does not count', async () => {
  const { world, plays, push, settled, mona, pullOf, say } = face;
  await push('main', 'old.test', 'test ! -e made.sh\n');
  await push('main', '.deckhand.yml', settings);
  // On the branch of somebody, the earlier tests expect nothing.
  await face.inClone('main', 'weak', false, async () => {});
  await push('weak', 'old.test', 'true\n');
  const passing = '. ./made.sh && test "$made" = yes\n';
  plays([write('made.sh', 'made=yes\n'), write('made.test', passing), finish]);
  const number = await world.issue('/agent create');
  await face.taskOf(number);
  await say(number, '/agent base weak');
  await until('its base', async () => ((await face.taskOf(number)) as unknown as { base: string }).base === 'weak');
  await say(number, '/agent start');
  const task = await settled(number, 'in_review', 1);
  const at = `${repo}/pulls/${pullOf(task)}`;
  const pull = () => mona<{ draft: boolean; body: string; base: { ref: string } }>('GET', at);
  const proof = () => world.get<{ status: string; reason: string | null }>(`/tasks/${task.id}/proof`);
  expect([(await pull()).draft, (await proof()).status]).toEqual([false, 'proved']);

  await mona('PATCH', at, { base: 'main' });
  gitOut(folder(), 'update-ref', '-d', 'refs/heads/weak');
  await mona('DELETE', `${repo}/git/refs/heads/weak`).catch(() => {});
  const reconcile = () => world.service.api(world.token, 'POST', '/agents/pool/reconcile');
  const stored = async () => {
    await reconcile();
    const rows = await world.sql<{ base_branch: string; status: string }>(
      'select base_branch, status from pull_requests where task_id = $1',
      [task.id],
    );
    return rows[0];
  };
  await until('the new base', async () => (await stored())?.base_branch === 'main');
  expect(await proof()).toMatchObject({
    status: 'not_run',
    reason: 'no run of this task has tested it for the branch into which it goes now',
  });
  const { body } = await pull();
  expect(body).not.toContain('the earlier tests pass with it');
  expect(body).toContain('⚠️ This pull request goes into another branch now, for which it was not checked.');
  const merge = () => world.service.api(world.token, 'POST', `/tasks/${task.id}/merge`);
  await expect(merge()).rejects.toThrow(/409.*not checked for the branch into which it goes/);
  await until('its new diff', async () => {
    const diff = await world.get<{ baseBranch: string }>(`/tasks/${task.id}/diff`);
    return diff.baseBranch === 'main';
  });
  expect(gitOut(folder(), 'show', 'main:old.test')).toBe('test ! -e made.sh');

  // A person may decide that it is ready.
  await mona('PATCH', at, { draft: true });
  await until('a draft', async () => (await stored())?.status === 'draft');
  await expect(merge()).rejects.toThrow(/409.*is a draft/);
  await mona('PATCH', at, { draft: false });
  await until('it is ready', async () => (await stored())?.status === 'open');
  expect((await proof()).status).toBe('not_run');
  await merge();
});
