import fc from 'fast-check';
import { belowAny, coneOf } from '../../src/git/cone.ts';
import { timeOf } from '../support/machine/processor-time.ts';

// Characters before and after the slash in the order of strings.
const name = fc.constantFrom('a', 'b', 'a-b', 'a.b', 'a0', 'aa');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));

test('a path is below others if it begins with one of them and a slash', () => {
  fc.assert(
    fc.property(fc.array(path, { maxLength: 6 }), path, (roots, given) => {
      expect(belowAny(roots)(given)).toBe(roots.some((root) => given.startsWith(`${root}/`)));
    }),
    { numRuns: 2000 },
  );
});

test('a cone has what is in its folders, and the files directly above them', () => {
  const cone = coneOf(['lib/a', 'lib/a/deep', 'docs']);
  expect(cone.folders).toEqual(['docs', 'lib/a']);
  const inside = ['docs/x', 'lib/a/x', 'lib/a/deep/x', 'lib/x', 'x'];
  const outside = ['lib/ab/x', 'lib/b/x', 'docs.d/x', 'other/x'];
  expect([...inside, ...outside].filter(cone.has)).toEqual(inside);
});

test('how deep paths are hardly matters', async () => {
  const cone = coneOf(['src', 'lib/a']);
  const deep = Array.from({ length: 3000 }, (_, i) => `${'a/'.repeat(1900)}${i}`);
  expect(await timeOf(() => deep.filter(cone.has))).toBeLessThan(500);
});
