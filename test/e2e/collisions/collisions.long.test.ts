import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';
import { gitAsync, gitOut } from '../../support/git.ts';

interface Found {
  collisions: { prNumber: number; otherTaskId: string | null; otherNumber: number; files: string[] }[];
  expected: { taskId: string; files: string[] }[];
}

let face: Face;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' } });
});
afterAll(() => face.world.close());

const of = ({ id }: { id: string }) => face.world.get<Found>(`/tasks/${id}/collisions`);
const waitFor = (task: { id: string }, others: number[]) =>
  until(`collisions with ${others}`, async () => {
    const { collisions } = await of(task);
    const found = collisions.map(({ otherNumber }) => otherNumber).sort((a, b) => a - b);
    return found.join() === [...others].sort((a, b) => a - b).join() && collisions;
  });

test('two changes of the same lines show a collision at both tasks, until one of them is merged', async () => {
  const { inReview, world, mona, push } = face;
  await push('main', 'lines.txt', 'one\ntwo\nthree\n');
  const first = await inReview({ 'lines.txt': 'one\nfirst\nthree\n', 'first.txt': '1\n' });
  // It has no common file with the others.
  const apart = await inReview({ 'apart.txt': '1\n' });
  const second = await inReview({ 'lines.txt': 'one\nsecond\nthree\n' });
  expect(await waitFor(second.task, [first.pull])).toEqual([
    expect.objectContaining({
      prNumber: second.pull,
      otherTaskId: first.task.id,
      otherTitle: first.task.title,
      files: ['lines.txt'],
    }),
  ]);
  expect(await waitFor(first.task, [second.pull])).toEqual([
    expect.objectContaining({ prNumber: first.pull, otherTaskId: second.task.id, files: ['lines.txt'] }),
  ]);
  const cards = async () =>
    (await world.get<{ tasks: { id: string; collisions: number }[] }>(`/projects/${world.project.id}/board`)).tasks;
  expect((await cards()).map(({ id, collisions }) => [id, collisions])).toEqual([
    [second.task.id, 1],
    [apart.task.id, 0],
    [first.task.id, 1],
  ]);

  // A person proposes the same lines, too.
  const bare = world.github.folderOf('mona/sample');
  await gitAsync(bare, 'branch', 'theirs', 'main');
  await push('theirs', 'lines.txt', 'one\ntheirs\nthree\n');
  const { number } = await mona<{ number: number }>('POST', `${repo}/pulls`, {
    ...{ title: 'Ours', body: '', head: 'theirs', base: 'main' },
  });
  await waitFor(first.task, [second.pull, number]);
  const [theirs] = (await of(second.task)).collisions.filter(({ otherNumber }) => otherNumber === number);
  expect(theirs).toMatchObject({ otherTaskId: null, otherTitle: 'Ours', otherAuthor: 'mona', files: ['lines.txt'] });
  await push('theirs', 'lines.txt', 'one\ntwo\nthree\n');
  await waitFor(first.task, [second.pull]);
  await push('theirs', 'lines.txt', 'one\ntheirs again\nthree\n');
  await waitFor(first.task, [second.pull, number]);
  await mona('PATCH', `${repo}/pulls/${number}`, { state: 'closed' });
  await waitFor(second.task, [first.pull]);

  // A task that names the file may collide with both.
  const { id } = await world.service.api<{ id: string }>(world.token, 'POST', `/projects/${world.project.id}/tasks`, {
    title: 'Sort the lines',
    description: 'Change `lines.txt`, please.',
  });
  const { expected, collisions } = await of({ id });
  expect(collisions).toEqual([]);
  expect(expected.map(({ taskId, files }) => [taskId, files]).sort()).toEqual(
    [first.task.id, second.task.id].map((taskId) => [taskId, ['lines.txt']]).sort(),
  );

  await mona('PUT', `${repo}/pulls/${first.pull}/merge`, { merge_method: 'squash' });
  await waitFor(second.task, []);
  await waitFor(first.task, []);
  expect(gitOut(bare, 'show', 'main:first.txt')).toBe('1');
  // Nothing is said on GitHub.
  const said = JSON.stringify(await world.comments(first.pull)) + JSON.stringify(await world.comments(second.pull));
  expect(said).not.toMatch(/collide|collision/i);
});
