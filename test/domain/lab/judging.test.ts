import { type ChangedFile, droppedBecause, whyDropped } from '../../../src/domain/lab/static-filter.ts';
import { judgeTries, type LabAttempt, type LabTries, rejectedBecause } from '../../../src/domain/lab/verdict.ts';
import { digestOf } from '../../../src/domain/proof/tests/test-results.ts';

const file = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  ...{ path, oldMode: '100644', newMode: '100644', isTest: path.startsWith('test/'), isProgram: path.endsWith('.js') },
  ...{ isSetup: false, isBinary: false },
  ...more,
});
const both = [file('src/a.js'), file('test/a.js')];

test.each([
  [undefined, { files: both }],
  [undefined, { files: both, parents: 2 }],
  ['first', { files: both, parents: 0 }],
  ['empty', { files: [] }],
  ['noTests', { files: [file('src/a.js')] }],
  ['noTests', { files: [file('src/a.js'), file('test/a.js', { newMode: '000000' })] }],
  ['noCode', { files: [file('test/a.js'), file('README.md')] }],
  ['tooLarge', { files: [...both, ...Array.from({ length: 24 }, (_, i) => file(`src/${i}.js`))] }],
  ['tooLarge', { files: both, lines: 801 }],
  ['tooLarge', { files: both, lines: undefined }],
  ['submodule', { files: [...both, file('lib', { newMode: '160000' })] }],
  ['setup', { files: [...both, file('package-lock.json', { isSetup: true })] }],
  ['link', { files: [...both, file('src/b', { newMode: '120000' })] }],
  ['binary', { files: [...both, file('a.png', { isBinary: true })] }],
] as const)('by its files, a change is dropped because of %s', (reason, given) => {
  const change = { parents: 1, lines: 800, ...given, files: [...given.files] };
  expect(whyDropped(change)).toBe(reason === undefined ? undefined : droppedBecause[reason]);
});

const passed: LabAttempt = {
  outcome: 'passed',
  seconds: 2,
  tests: { failed: [], passed: [digestOf('adds')], isWhole: true },
};
const failed: LabAttempt = { outcome: 'failed', tests: { failed: ['adds', 'other'], passed: [], isWhole: true } };
const unfinished: LabAttempt = { outcome: 'unfinished', why: 'it takes too long' };
const usable = { base: [passed, passed], testsOnBase: [failed, failed], change: [passed, passed] };

test('a change is usable whose base passes, with its tests fails, and with the change passes, each time', () => {
  expect(judgeTries(usable)).toEqual({ reason: null, singleTests: ['adds'], seconds: 2 });
});

test.each<[keyof typeof rejectedBecause, Partial<LabTries>]>([
  ['flaky', { change: [passed, failed] }],
  ['flaky', { testsOnBase: [failed, passed] }],
  ['flaky', { base: [passed, unfinished] }],
  ['flaky', { testsOnBase: [failed, { ...failed, tests: { failed: ['other'], passed: [], isWhole: true } }] }],
  ['unfinished', { change: [unfinished, unfinished] }],
  ['changeFails', { change: [failed] }],
  ['passesBefore', { testsOnBase: [passed, passed] }],
  ['baseFails', { base: [failed, failed] }],
])('by its tries, a change is rejected because of %s', (reason, some) => {
  const tries = { ...usable, ...some };
  expect(judgeTries(tries).reason).toBe(rejectedBecause[reason]);
});
