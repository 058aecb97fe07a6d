import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import type { WorldTask } from '../../support/world.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
});
afterAll(() => face.world.close());

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const settings = 'checks: for t in *.test; do sh ./$t || exit 1; done\ntests: ["*.test"]\nproof: required\n';

test('an agent that revises an undo cannot weaken the tests of others', async () => {
  const { world, plays, push, settled, mona, say } = face;
  await push('main', 'guard.sh', 'guard=on\n');
  await push('main', 'guard.test', '. ./guard.sh && test "$guard" = on\n');
  await push('main', '.deckhand.yml', settings);
  plays(
    [write('made.sh', 'made=yes\n'), write('made.test', '. ./made.sh && test "$made" = yes\n')],
    [finish],
    [finish],
  );
  const task = await settled(await world.issue('/agent start'), 'in_review', 1);
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/merge`);
  await until('the merge', async () => (await world.get<WorldTask>(`/tasks/${task.id}`)).status === 'done');
  const undo = await world.service.api<WorldTask>(world.token, 'POST', `/tasks/${task.id}/undo`);
  const reviewed = (runs: number) =>
    until('the undo', async () => {
      const now = await world.get<WorldTask>(`/tasks/${undo.id}`);
      const all = await world.get<{ status: string }[]>(`/tasks/${undo.id}/runs`);
      const isDone = all.length === runs && all.every(({ status }) => status === 'succeeded');
      return now.status === 'in_review' && isDone && now;
    });
  const pull = Number(/\d+$/.exec((await reviewed(1)).prUrl ?? '')?.[0]);
  const proof = () => world.get<{ status: string; reason: string | null }>(`/tasks/${undo.id}/proof`);
  expect(await proof()).toMatchObject({ status: 'proved' });
  plays([write('why.md', 'It was too slow.\n')], [finish], [finish]);
  await say(pull, '/agent revise Say why.');
  await reviewed(2);
  expect(await proof()).toMatchObject({ status: 'proved' });
  plays([write('guard.sh', 'guard=off\n'), write('guard.test', 'true\n')], [finish], [finish]);
  await say(pull, '/agent revise Say more.');
  await reviewed(3);
  expect(await proof()).toMatchObject({ status: 'unproved', reason: expect.stringContaining('fail') });
  expect(await mona<{ draft: boolean }>('GET', `${repo}/pulls/${pull}`)).toMatchObject({ draft: true });
  // The tests from before pass again, but say nothing about these.
  plays([write('guard.sh', 'guard=on\nother=code\n')], [finish], [finish]);
  await say(pull, '/agent revise Put the guard back.');
  await reviewed(4);
  const reason = 'guard.sh, guard.test were changed besides what is undone';
  expect(await proof()).toMatchObject({ status: 'unproved', reason });
  expect(await mona<{ draft: boolean }>('GET', `${repo}/pulls/${pull}`)).toMatchObject({ draft: true });
});
