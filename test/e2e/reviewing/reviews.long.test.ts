import { type Open, openReviewWorld } from './review-world.ts';

let world: Open;
afterEach(() => world.close());

const remark = (path: string, line: number, text: string, more: object = {}) => ({
  path,
  line,
  severity: 'major',
  text,
  ...more,
});

test('a member asks for a review, and gets one review with comments on changed lines, and one summary', async () => {
  let calls = 0;
  world = await openReviewWorld(() => {
    calls += 1;
    const comments = [
      remark('src/added.js', 2, 'This returns nothing for an empty list.', { suggestion: '  return list.length;' }),
      remark('src/slugify.js', 1, 'A line that nobody changed.'),
    ];
    return [{ name: 'review', arguments: { summary: 'One problem.', comments } }];
  });
  const number = await world.pull('feature', {
    'src/added.js': 'export function size(list) {\n  return list.size;\n}\n',
  });
  const run = await world.review(number);
  expect(run).toMatchObject({ kind: 'review', status: 'queued' });
  await world.ended(run.id, 'succeeded');
  // The wrong line was a result that the model could mend.
  expect(calls).toBe(2);
  const [review, ...others] = await world.reviews(number);
  expect(others).toEqual([]);
  expect(review).toMatchObject({ state: 'COMMENTED', user: { login: 'deckhand[bot]' } });
  const comments = await world.lineComments(number);
  expect(comments).toHaveLength(1);
  expect(comments[0]).toMatchObject({ path: 'src/added.js', line: 2 });
  expect(comments[0]?.body).toMatch(/Major.*This returns nothing[\s\S]*```suggestion\n {2}return list\.length;\n```$/);
  const [summary] = await world.summaries(number);
  expect(summary?.body).toContain('One problem.');
  expect(await world.get(`/projects/${world.project.id}/tasks`)).toEqual([]);
});
