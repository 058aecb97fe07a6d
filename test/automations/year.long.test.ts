import { livePart } from './year.ts';

test('over a year in three zones, four processes make each task once although they are killed 20 times', async () => {
  const { expected, made } = await livePart('2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z', 20);
  expect(made).toEqual(expected);
  expect(Object.values(made).map((times) => times.length)).toEqual([365, 365, 365]);
}, 900_000);
