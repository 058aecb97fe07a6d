import { numberOfPull } from '../../src/web/repositories/reviewed-number.ts';

test.each([
  ['12', '12'],
  [' #12 ', '12'],
  ['https://github.example/mona/sample/pull/12', '12'],
  ['', undefined],
  ['0', undefined],
  ['-1', undefined],
  ['12a', undefined],
  ['https://github.example/mona/sample/issues/12', undefined],
  ['9'.repeat(10), undefined],
])('of %j, the number of the pull request is %j', (text, number) => {
  expect(numberOfPull(text)).toBe(number);
});
