import { seededRandom } from '../../../src/domain/forecast/draws.ts';

// Computed with another implementation of sfc32 and FNV-1a. With other numbers, the same data would give another forecast.
test.each([
  ['sprint_1', [3012501684, 2493671904, 2157902777, 212615806]],
  ['', [77983348, 2926330273, 2659216271, 3025247039]],
])('the random numbers of the seed %j', (seed, wanted) => {
  const { uniform } = seededRandom(seed);
  expect(wanted.map(uniform)).toEqual(wanted.map((number) => (number + 0.5) / 2 ** 32));
});

test('two uniform numbers make two normal ones (Box and Muller)', () => {
  const { normal } = seededRandom('sprint_1');
  for (const wanted of [-0.7365058964, -0.4085403658, 1.1169927475, 0.3590841914])
    expect(normal()).toBeCloseTo(wanted, 9);
});

test('normal numbers have a mean of 0 and a deviation of 1', () => {
  const { normal } = seededRandom('x');
  const drawn = Array.from({ length: 2000 }, normal);
  expect(drawn.reduce((sum, value) => sum + value, 0) / drawn.length).toBeCloseTo(0, 1);
  expect(drawn.reduce((sum, value) => sum + value ** 2, 0) / drawn.length).toBeCloseTo(1, 0);
});
