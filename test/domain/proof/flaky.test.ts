import { compareTries } from '../../../src/domain/proof/flaky.ts';
import { digestOf } from '../../../src/domain/proof/tests/test-results.ts';

const commands = ['lint', 'test', 'build'];
const passed = { outcome: 'passed' } as const;
const failedAt = (command: string, tests?: { failed: string[]; passed: string[] }) =>
  ({ outcome: 'failed', failing: { command }, tests: tests && { ...tests, isWhole: true } }) as const;

test('a check differs if it passed once and failed once; those after one that failed did not run', () => {
  expect(compareTries(commands, passed, failedAt('test'))).toEqual([
    { command: 'lint', differs: false, tests: [] },
    { command: 'test', differs: true, tests: [] },
  ]);
  expect(compareTries(commands, failedAt('lint'), failedAt('test')).map(({ command }) => command)).toEqual(['lint']);
});

test('a try that did not finish says nothing', () => {
  expect(compareTries(commands, passed, { outcome: 'unfinished', why: 'it was killed' })).toEqual([]);
  expect(compareTries(commands, failedAt('set-up'), passed)).toEqual([]);
});

test('single tests are named that passed once and failed once', () => {
  const [first] = [failedAt('lint', { failed: ['adds', 'subtracts'], passed: [] })];
  const second = { ...passed, tests: { failed: [], passed: [digestOf('adds')], isWhole: true } };
  expect(compareTries(['lint'], first, second)).toEqual([{ command: 'lint', differs: true, tests: ['adds'] }]);
});
