import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, write } from '../../support/face.ts';
import type { WorldTask } from '../../support/world.ts';

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const settings = 'checks: for t in *.test; do sh ./$t || exit 1; done\ntests: ["*.test", "cases/**"]\n';

let face: Face;
beforeAll(async () => {
  face = await openFace();
});
afterAll(() => face.world.close());

test('an undo that decides what a test says is not proved, nor is one that changes data or written cases besides', async () => {
  const { world, plays, push, settled } = face;
  await push('main', 'lib/rates.json', '{"fee": 1}\n');
  await push('main', 'cases/fee.md', 'The fee is 1.\n');
  await push('main', 'shared.test', 'test 1 = 1\n# a\n');
  await push('main', '.deckhand.yml', settings);
  plays(
    [write('made.sh', 'made=yes\n'), write('shared.test', 'test 1 = 1\n. ./made.sh && test "$made" = yes\n')],
    [finish],
    [finish],
  );
  const task = await settled(await world.issue('/agent start'), 'in_review', 1);
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/merge`);
  await until('the merge', async () => (await world.get<WorldTask>(`/tasks/${task.id}`)).status === 'done');
  // Somebody else adds to the line that the undo removes, so that the revert conflicts there.
  await push(
    'main',
    'shared.test',
    'test 1 = 1\n. ./made.sh && test "$made" = yes\ngrep -q "fee.: 1" lib/rates.json\n',
  );
  plays(
    [write('shared.test', 'true\n'), write('lib/rates.json', '{"fee": 99}\n'), write('cases/fee.md', '')],
    [finish],
    [finish],
    [finish],
  );
  const undo = await world.service.api<WorldTask>(world.token, 'POST', `/tasks/${task.id}/undo`);
  await until('the undo', async () => (await world.get<WorldTask>(`/tasks/${undo.id}`)).status === 'in_review');
  expect(await world.get(`/tasks/${undo.id}/proof`)).toMatchObject({
    status: 'unproved',
    reason: 'shared.test, cases/fee.md, lib/rates.json were changed besides what is undone',
  });
});
