import { besidesUndo, judgeUndo, type ObservedUndo, proofSentence } from '../../src/domain/proof/proof.ts';

const observed: ObservedUndo = {
  ...{ testsChanged: ['a.test.js'], hadTests: true, doubts: [], tried: [{ outcome: 'passed' }], failing: [] },
};

test('the old behaviour is back when the tests from before pass', () => {
  const proof = judgeUndo(observed);
  expect(proof).toMatchObject({ status: 'proved', oldTestsPass: true, newTestsFailOnBase: null });
  expect(proofSentence(proof)).toBe('The old behaviour is back: the tests from before the undone change pass again.');
});

test('tests from before that fail are named', () => {
  const failed = { ...observed, tried: [{ outcome: 'failed' as const }, { outcome: 'failed' as const }] };
  expect(judgeUndo({ ...failed, failing: ['adds'] })).toMatchObject({ status: 'unproved', oldTestsPass: false });
  expect(judgeUndo({ ...failed, failing: ['adds'] }).reason).toBe('the tests from before the undone change fail: adds');
  expect(judgeUndo(failed).reason).toMatch(/: a\.test\.js$/);
});

test('nothing is proved if more was changed that may weaken the tests', () => {
  const proof = judgeUndo({ ...observed, doubts: ['guard.test was removed'] });
  expect(proof).toMatchObject({ status: 'unproved', reason: 'guard.test was removed' });
});

test('an undo is hindered if the earlier tests fail, or if it changes more than it undoes', () => {
  const failed = { ...observed, tried: [{ outcome: 'failed' as const }, { outcome: 'failed' as const }] };
  const besides = { ...observed, doubts: ['guard.test was changed besides what is undone'] };
  for (const each of [failed, besides, { ...besides, hadTests: false }])
    expect(judgeUndo(each)).toMatchObject({ isHindered: true });
  for (const each of [observed, { ...observed, hadTests: false }]) expect(judgeUndo(each).isHindered).toBeUndefined();
});

test('what was changed besides is named', () => {
  expect(besidesUndo([])).toEqual([]);
  expect(besidesUndo(['a.js'])).toEqual(['a.js was changed besides what is undone']);
  expect(besidesUndo(['a.js', 'b.js'])).toEqual(['a.js, b.js were changed besides what is undone']);
});

test('without tests from before, or with results that differ, nothing is proved', () => {
  expect(judgeUndo({ ...observed, hadTests: false }).status).toBe('no_tests');
  const flaky = judgeUndo({ ...observed, tried: [{ outcome: 'failed' }, { outcome: 'passed' }] });
  expect(flaky).toMatchObject({ status: 'not_run', oldTestsPass: null });
});
