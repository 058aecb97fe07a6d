import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, write } from '../../support/face.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' } });
});
afterAll(() => face.world.close());

interface Run {
  status: string;
  failure: { message: string } | null;
}

test('a run on a stacked change that waits goes on after the change below it was squashed', async () => {
  const { world, say, settled, next, plays } = face;
  const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
  const lower = await face.inReview({ 'lower.txt': 'first\n' });
  const branch = lower.task.branchName;
  next({ 'upper.txt': 'x\n' });
  const number = await world.issue('/agent create');
  await face.taskOf(number);
  const baseOf = async () => ((await face.taskOf(number)) as { base?: string | null }).base;
  await say(number, `/agent base ${branch}`);
  await until('its base', async () => (await baseOf()) === branch);
  await say(number, '/agent start');
  const task = await settled(number, 'in_review', 1);

  plays(
    [{ name: 'ask_person', arguments: { question: 'Go on?', options: [] } }],
    [write('upper.txt', 'second\n')],
    [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }],
  );
  await api('POST', `/tasks/${task.id}/revise`, { text: 'More.' });
  const asked = await until(
    'the question',
    async () => ((await face.get(task)) as { attention?: { id: string } }).attention,
  );
  await api('POST', `/tasks/${lower.task.id}/merge`);
  await until('the base to move', async () => (await baseOf()) !== branch);
  await api('POST', `/tasks/${task.id}/answer`, { id: asked.id, text: 'Yes.' });
  const runs = await until('the runs to end', async () => {
    const all = await world.get<Run[]>(`/tasks/${task.id}/runs`);
    return all.every(({ status }) => ['failed', 'succeeded'].includes(status)) && all;
  });
  expect(runs.map(({ status, failure }) => [status, failure?.message])).toEqual([
    ['succeeded', undefined],
    ['succeeded', undefined],
  ]);
});
