import { joinParts, listPart, textPart } from '../../../src/domain/text/name-links.ts';

test('a text is shortened only when it is longer than allowed', () => {
  expect(textPart('Body', 'abcd', 4)).toBe('## Body\n```\nabcd\n```');
  expect(textPart('Body', 'abcde', 4)).toBe('## Body\n```\nabcd…\n```');
  expect(textPart('Body', ' \n', 4)).toBe('');
});

test('a list counts the items that it leaves out', () => {
  const list = (items: string[]) => listPart('Files', items, 2, (item) => item);
  expect(list(['a', 'b'])).toBe('## Files\n- a\n- b');
  expect(list(['a', 'b', 'c'])).toBe('## Files\n- a\n- b\n- and 1 more');
  expect(list([])).toBe('');
});

test('the lines of a list have at most 500 characters', () => {
  expect(listPart('Files', ['x'.repeat(501)], 1, (item) => item)).toBe(`## Files\n- ${'x'.repeat(499)}…`);
});

test('empty parts leave no gap', () => {
  expect(joinParts(['a', '', 'b'])).toBe('a\n\nb');
});
