import { structuredPatch } from 'diff';
import { earlierTests } from '../../../src/worker/proof/judge-contents.ts';

/** Compares a test file with itself after a replacement. */
function compared(path: string, old: string, from: string, to: string) {
  const patch = structuredPatch('', '', old, old.replace(from, to), '', '', { context: 3 });
  const hunks = patch?.hunks.map(({ lines }) => lines) ?? [];
  return earlierTests([{ path, old: Buffer.from(old), hunks }])[0];
}

test.each([
  ['tests/numbers.rs', '#[test]\nfn two() {\n    assert_eq!(double(2), 4);\n}\n'],
  ['tests/later.rs', '#[tokio::test]\nasync fn two() {\n    assert_eq!(double(2).await, 4);\n}\n'],
  ['src/test/Numbers.java', 'class Numbers {\n  @Test\n  void two() {\n    assertEquals(4, twice(2));\n  }\n}\n'],
])('%s is a test by what it declares: another expected value is a change, a lost assertion is lost', (path, text) => {
  expect(compared(path, text, '4', '6')).toEqual({ path, hasChanged: true, renamed: [['4', '6']] });
  expect(compared(path, text, /.*assert.*\n/.exec(text)?.[0] ?? '', '')?.lost).toBe('lost a line of an earlier test');
});

test('a program beside tests that declares none is a helper, whose change may check less', () => {
  expect(compared('tests/common/mod.rs', 'pub fn limit() -> i64 {\n    4\n}\n', '4', '6')?.lost).toBe(
    'changes a helper of earlier tests',
  );
});

test('a condition that throws is an assertion: its literal may change, the input before it may not', () => {
  const thrown = "test('f', () => {\n  if (f(1) !== 2) throw new Error(String(f(1)));\n});\n";
  expect(compared('a.test.ts', thrown, '!== 2)', '!== 3)')).toMatchObject({ hasChanged: true, renamed: [['2', '3']] });
  expect(compared('a.test.ts', thrown, '(f(1) !==', '(f(7) !==')?.lost).toBe('lost a line of an earlier test');
  const guarded = "test('f', () => {\n  if (f(3) === 4) {\n    assert.equal(f(3), 4);\n  }\n});\n";
  expect(compared('a.test.ts', guarded, '=== 4) {', '=== 5) {')?.lost).toBe('lost a line of an earlier test');
});
