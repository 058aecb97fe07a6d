import { until } from '../../../src/demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
});
afterAll(() => face.world.close());

const branches = async () =>
  (await face.mona<{ name: string }[]>('GET', `${repo}/branches?per_page=100`)).map(({ name }) => name);

test('a deleted task leaves GitHub clean, except for a branch to which somebody else pushed', async () => {
  const { world, inReview, push, mona, statusComment } = face;
  const own = await inReview({ 'own.txt': 'by the agent\n' });
  const shared = await inReview({ 'shared.txt': 'by the agent\n' });
  const [ownBranch, sharedBranch] = [own.task.branchName ?? '', shared.task.branchName ?? ''];
  await push(sharedBranch, 'person.txt', 'by a person\n');
  await mona('POST', `${repo}/issues/${own.number}/labels`, { labels: ['people'] });
  for (const { number } of [own, shared])
    await until('the status comment', async () => (await statusComment(number)).length === 1);
  for (const { task } of [own, shared]) await world.service.api(world.token, 'DELETE', `/tasks/${task.id}`);
  await until('everything to be removed', async () => (await world.sql('select 1 from leftovers', [])).length === 0);
  for (const { number, pull } of [own, shared]) {
    expect((await mona<{ state: string }>('GET', `${repo}/pulls/${pull}`)).state).toBe('closed');
    const told = (await world.comments(pull)).filter(({ body }) =>
      body.includes('The task of this pull request was deleted'),
    );
    expect(told).toHaveLength(1);
    expect(await statusComment(number)).toEqual([]);
    expect(await statusComment(pull)).toEqual([]);
    expect((await mona<{ state: string }>('GET', `${repo}/issues/${number}`)).state).toBe('open');
  }
  expect(await world.labels(own.number)).toEqual(['people']);
  expect(await world.labels(shared.number)).toEqual([]);
  expect(await branches()).toContain(sharedBranch);
  expect(await branches()).not.toContain(ownBranch);
});
