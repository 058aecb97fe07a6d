import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
});
afterAll(() => face.world.close());

const folder = () => face.world.github.folderOf('mona/sample');
const api = <T>(method: string, path: string, body?: object): Promise<T> =>
  face.world.service.api(face.world.token, method, path, body) as Promise<T>;
const pullAt = (number: number) =>
  face.mona<{ number: number; base: { ref: string }; merged: boolean }>('GET', `${repo}/pulls/${number}`);

test('a pull request above one that was merged somewhere else does not carry its code into the default branch', async () => {
  const { world, say, settled, next, pullOf } = face;
  const lower = await face.inReview({ 'lower.txt': 'nobody approved this for main\n' });
  const branch = lower.task.branchName ?? '';
  next({ 'upper.txt': 'on top\n' });
  const number = await world.issue('/agent create');
  await face.taskOf(number);
  await say(number, `/agent base ${branch}`);
  await until('its base', async () => ((await face.taskOf(number)) as unknown as { base: string }).base === branch);
  await say(number, '/agent start');
  const task = await settled(number, 'in_review', 1);
  const pull = pullOf(task);
  expect((await pullAt(pull)).base.ref).toBe(branch);
  // Somebody who may not merge into main merges the lower one into a branch of theirs.
  await face.inClone('main', 'scratch', false, async () => {});
  await face.mona('PATCH', `${repo}/pulls/${lower.pull}`, { base: 'scratch' });
  await face.mona('PUT', `${repo}/pulls/${lower.pull}/merge`, {});
  expect(await pullAt(lower.pull)).toMatchObject({ merged: true, base: { ref: 'scratch' } });
  expect(() => gitOut(folder(), 'show', 'main:lower.txt')).toThrow();
  await until('the end of the lower task', async () => (await face.get(lower.task)).status === 'done');
  await face.told(number, 'was merged into `scratch` on GitHub, not into `main`, for which it was opened.');
  const merging = () => api('POST', `/tasks/${task.id}/merge`);
  await expect(merging()).rejects.toThrow(/409.*was merged into the branch scratch, not into main/);
  expect((await pullAt(pull)).base.ref).toBe(branch);
  // Nor does it help to change the base of the upper one.
  await face.mona('PATCH', `${repo}/pulls/${pull}`, { base: 'main' });
  await api('POST', '/agents/pool/reconcile');
  await expect(merging()).rejects.toThrow(/409/);
  expect(() => gitOut(folder(), 'show', 'main:lower.txt')).toThrow();
  // Where the commits of the lower one are, it may go.
  await face.mona('PATCH', `${repo}/pulls/${pull}`, { base: 'scratch' });
  await api('POST', '/agents/pool/reconcile');
  await face.told(number, 'It goes into `scratch` now.');
  await until('the merge', async () => {
    await merging().catch((error) => {
      if (!/409/.test(String(error))) throw error;
    });
    return (await face.get(task)).status === 'done';
  });
  expect(gitOut(folder(), 'show', 'scratch:upper.txt')).toBe('on top');
  expect(() => gitOut(folder(), 'show', 'main:lower.txt')).toThrow();
});
