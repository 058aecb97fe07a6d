import { type Open, openReviewWorld } from './review-world.ts';

let world: Open;
afterEach(() => world.close());

const file = (lines: number, push: number) =>
  Array.from({ length: lines }, (_, i) => `export const f${i + 1} = () => ${i < 6 * push ? push : 0} + ${i};\n`).join(
    '',
  );

/** Says 40 things about each pull request, half of them about lines that are not there. */
const talkative = () => [
  {
    name: 'review',
    arguments: {
      summary: 'There is much to say.',
      comments: Array.from({ length: 40 }, (_, i) => ({
        path: 'src/many.js',
        line: i % 2 === 0 ? i / 2 + 1 : 1000 + i,
        severity: ['minor', 'major', 'critical'][i % 3],
        text: `Thing ${i}: the function number ${i} gives its own number, which nobody wants in case ${i}.`,
      })),
    },
  },
];

test('30 reviews of six pull requests over five pushes: at most ten valid comments each, none doubled', async () => {
  world = await openReviewWorld(talkative);
  const numbers: number[] = [];
  for (let i = 0; i < 6; i++) numbers.push(await world.pull(`many-${i}`, { 'src/many.js': file(20 + i, 0) }));
  const counts = new Map<number, number>();
  for (let push = 0; push < 5; push++)
    for (const [i, number] of numbers.entries()) {
      if (push > 0) await world.push(`many-${i}`, { 'src/many.js': file(20 + i, push % 4) });
      await world.ended((await world.review(number)).id, 'succeeded');
      const comments = await world.lineComments(number);
      const isNew = comments.length - (counts.get(number) ?? 0);
      expect(isNew).toBeLessThanOrEqual(10);
      expect(comments.every(({ path, line }) => path === 'src/many.js' && (line ?? 0) <= 20)).toBe(true);
      const said = comments.map(({ body }) => body.replace(/^<!--.*-->\n/, ''));
      expect(new Set(said).size).toBe(said.length);
      counts.set(number, comments.length);
    }
  expect([...counts.values()].every((count) => count >= 10)).toBe(true);
  for (const number of numbers) expect(await world.summaries(number)).toHaveLength(1);
});
