import { livePart } from './year.ts';

// year.long.test.ts lets a whole year pass.

test('over the days on which clocks change in spring, four processes make each task once, also when they are killed', async () => {
  const { expected, made } = await livePart('2027-03-26T00:00:00Z', '2027-04-06T00:00:00Z', 2);
  expect(made).toEqual(expected);
  expect(made['Europe/Berlin']).toHaveLength(11);
}, 180_000);
