import { offers } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { type Open, openReviewWorld } from './review-world.ts';

let world: Open;
afterEach(() => world.close());

/** A file with a function on each line. */
const file = (from: number, to: number, mark = '') =>
  Array.from({ length: to - from + 1 }, (_, i) => `export const f${from + i} = () => ${from + i}${mark};\n`).join('');

/** A reviewer that says 40 things each time, half of them about lines that are not there. */
const talkative = (path: string) => () => [
  {
    name: 'review',
    arguments: {
      summary: 'There is much to say.',
      comments: Array.from({ length: 40 }, (_, i) => ({
        path,
        line: i % 2 === 0 ? i / 2 + 1 : 1000 + i,
        severity: ['minor', 'major', 'critical'][i % 3],
        text: `Thing ${i}: the function number ${i} gives its own number, which nobody wants in case ${i}.`,
      })),
    },
  },
];

test('a reviewer that says too much posts at most ten comments, and later reviews repeat none and keep to new lines', async () => {
  world = await openReviewWorld(talkative('src/many.js'));
  const number = await world.pull('many', { 'src/many.js': file(1, 20) });
  await world.ended((await world.review(number)).id, 'succeeded');
  const first = await world.lineComments(number);
  expect(first).toHaveLength(10);
  // The most severe come first.
  expect(first.slice(0, 6).every(({ body }) => body.includes('Critical'))).toBe(true);
  await world.push('many', { 'src/many.js': file(1, 19) + file(20, 20, ' + 1') });
  await world.ended((await world.review(number)).id, 'succeeded');
  const second = await world.lineComments(number);
  expect(second.slice(10).every(({ line }) => line === 20)).toBe(true);
  expect(new Set(second.map(({ line }) => line)).size).toBe(second.length);
  // The same commit again: nothing is new.
  await world.ended((await world.review(number)).id, 'succeeded');
  expect(await world.lineComments(number)).toHaveLength(second.length);
  const summaries = await world.summaries(number);
  expect(summaries).toHaveLength(1);
  expect(summaries[0]?.body).toContain('Review 2, of what is new');
});

test('what people found not useful is told to the next review', async () => {
  const said = (text: string) => [
    {
      name: 'review',
      arguments: { summary: 'One.', comments: [{ path: 'src/a.js', line: 1, severity: 'minor', text }] },
    },
  ];
  let round = 0;
  world = await openReviewWorld(() => {
    round += 1;
    return said(round === 1 ? 'Prefer a named function here.' : 'The value is never checked against zero.');
  });
  const number = await world.pull('a', { 'src/a.js': file(1, 3) });
  await world.ended((await world.review(number)).id, 'succeeded');
  const [comment] = await world.lineComments(number);
  const reactions = `/repos/mona/sample/pulls/comments/${comment?.id}`;
  const dislike = (login: string) =>
    world.github.reactions.push({ subject: reactions, content: '-1', by: `token person-${login}` });
  dislike('stranger');
  const other = await world.pull('b', { 'src/a.js': file(1, 2) });
  await world.ended((await world.review(other)).id, 'succeeded');
  expect(JSON.stringify(world.model.requests.at(-1))).not.toContain('Prefer a named function here.');
  dislike('mona');
  const third = await world.pull('c', { 'src/a.js': file(1, 2, ' + 2') });
  await world.ended((await world.review(third)).id, 'succeeded');
  const prompt = JSON.stringify(world.model.requests.at(-1));
  expect(prompt).toMatch(/found not useful.*Prefer a named function here\./);
  // A thread that somebody resolved without a change counts, too.
  const [another] = await world.lineComments(other);
  world.github.resolved.set(another?.id ?? 0, 'mona');
  await world.ended((await world.review(await world.pull('d', { 'src/a.js': file(4, 5) }))).id, 'succeeded');
  expect(JSON.stringify(world.model.requests.at(-1))).toMatch(/found not useful.*never checked against zero/);
});

test('a push during a review cancels it and the new head is reviewed for the same person', async () => {
  let hold: Promise<void> = Promise.resolve();
  world = await openReviewWorld(talkative('src/many.js'), { before: () => hold });
  const number = await world.pull('many', { 'src/many.js': file(1, 4) });
  let go = () => {};
  hold = new Promise((resolve) => {
    go = resolve;
  });
  const old = await world.review(number);
  await until('the question', async () => world.model.requests.some((request) => offers(request, 'review')));
  const again = await world.review(number).catch((error: Error) => error.message);
  expect(again).toMatch(/409.*being reviewed/);
  await world.push('many', { 'src/many.js': file(1, 6) });
  await world.ended(old.id, 'cancelled');
  go();
  const runs = await until('another run', async () => {
    const all = await world.runs(old.taskId);
    return all.length > 1 && all;
  });
  await world.ended(runs[0]?.id ?? '', 'succeeded');
  expect((await world.reviews(number)).map(({ body }) => body.includes(runs[0]?.id ?? ''))).toEqual([true]);
});
