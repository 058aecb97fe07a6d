import {
  type Attempt,
  judgeProof,
  markedProof,
  needsAnother,
  type Observed,
  type Proof,
  proofSentence,
  worstOf,
} from '../../../src/domain/proof/proof.ts';

const passed: Attempt = { outcome: 'passed' };
const failed: Attempt = { outcome: 'failed' };
const hung: Attempt = { outcome: 'unfinished', why: 'they take longer than 15 s' };
const seen = (more: Partial<Observed>): Observed => ({
  testsChanged: ['test/a.test.js'],
  testsRemoved: [],
  doubts: [],
  isHindered: false,
  newTestsOnBase: [failed],
  newTestsOnChange: [passed],
  moved: [],
  lost: [],
  failing: [],
  oldTestsOnChange: [passed],
  ...more,
});
const doubts = ['package.json decides how the tests run'];

test.each<[string, Partial<Observed>, Partial<Proof>]>([
  ['as expected', {}, { status: 'proved', newTestsFailOnBase: true, oldTestsPass: true, reason: null }],
  [
    'new tests that pass on the base, twice',
    { newTestsOnBase: [passed, passed] },
    { status: 'unproved', newTestsFailOnBase: false, reason: 'the tests of this change also pass without it' },
  ],
  [
    'new tests that fail when they run again with the change, twice',
    { newTestsOnChange: [failed, failed] },
    { status: 'unproved', reason: 'the tests of this change failed when they ran again with it' },
  ],
  [
    'new tests with different results with the change',
    { newTestsOnChange: [failed, passed] },
    {
      status: 'not_run',
      newTestsFailOnBase: true,
      reason: 'the checks when they ran again on this change had different results: they failed, then they passed',
    },
  ],
  [
    'new tests that pass on the base with what only they use',
    { newTestsOnBase: [passed, passed], moved: ['src/same.js'] },
    {
      status: 'unproved',
      reason: 'the tests of this change also pass without it, apart from src/same.js, which only they use',
    },
  ],
  [
    'old tests that fail with the change, twice',
    { oldTestsOnChange: [failed, failed] },
    { status: 'weakened', oldTestsPass: false, reason: 'the earlier tests fail with this change' },
  ],
  [
    'new tests that pass on the base, and old tests that fail with the change',
    { newTestsOnBase: [passed, passed], oldTestsOnChange: [failed, failed] },
    { status: 'weakened', newTestsFailOnBase: false, oldTestsPass: false },
  ],
  [
    'old tests whose expectations changed',
    { oldTestsOnChange: [failed, failed], failing: ['adds', 'subtracts'] },
    {
      status: 'changed',
      newTestsFailOnBase: true,
      oldTestsPass: false,
      reason: 'these earlier tests fail with it: adds, subtracts',
    },
  ],
  [
    'such tests, of which something was lost',
    { oldTestsOnChange: [failed, failed], failing: ['adds'], lost: ['test/a.test.js lost an assertion'] },
    {
      status: 'weakened',
      reason: 'the earlier tests fail with this change; test/a.test.js lost an assertion',
    },
  ],
  [
    'such tests, one of which was removed',
    { oldTestsOnChange: [failed, failed], failing: ['adds'], testsRemoved: ['test/b.test.js'] },
    { status: 'weakened' },
  ],
  [
    'such tests, and new ones that pass on the base',
    { oldTestsOnChange: [failed, failed], failing: ['adds'], newTestsOnBase: [passed, passed] },
    { status: 'weakened', newTestsFailOnBase: false },
  ],
  [
    'such tests, and new ones that fail with the change when they run again',
    { oldTestsOnChange: [failed, failed], failing: ['adds'], newTestsOnChange: [failed, failed] },
    { status: 'weakened' },
  ],
  [
    'such tests, and a file that decides how tests run',
    { oldTestsOnChange: [failed, failed], failing: ['adds'], doubts },
    { status: 'weakened' },
  ],
  [
    'a file that decides how tests run',
    { doubts },
    { status: 'unproved', newTestsFailOnBase: true, oldTestsPass: true, reason: doubts[0] as string },
  ],
  [
    'such a file, and old tests that fail',
    { doubts, oldTestsOnChange: [failed, failed] },
    { status: 'weakened', reason: `the earlier tests fail with this change; ${doubts[0]}` },
  ],
  [
    'new tests with different results on the base',
    { newTestsOnBase: [passed, failed] },
    {
      status: 'not_run',
      newTestsFailOnBase: null,
      reason:
        'the checks with the tests of this change on the code without it had different results: they passed, then they failed',
    },
  ],
  [
    'old tests with different results',
    { oldTestsOnChange: [failed, passed] },
    {
      status: 'not_run',
      newTestsFailOnBase: true,
      oldTestsPass: null,
      reason: expect.stringContaining('they failed, then they passed'),
    },
  ],
  [
    'checks that hang twice on the base',
    { newTestsOnBase: [hung, hung] },
    {
      status: 'not_run',
      newTestsFailOnBase: null,
      reason: expect.stringMatching(/did not finish: they take longer than 15 s$/),
    },
  ],
  [
    'checks that hang once, then fail as expected',
    { newTestsOnBase: [hung, failed] },
    { status: 'not_run', newTestsFailOnBase: null, reason: expect.stringContaining('different results') },
  ],
  [
    'checks that hang twice on the change',
    { oldTestsOnChange: [hung, hung] },
    { status: 'not_run', oldTestsPass: null },
  ],
  [
    'checks that hang on the base, and old tests that fail',
    { newTestsOnBase: [hung, hung], oldTestsOnChange: [failed, failed] },
    { status: 'weakened', newTestsFailOnBase: null, oldTestsPass: false },
  ],
  [
    'one attempt that hung, because the time of the run was up',
    { newTestsOnBase: [hung] },
    { status: 'not_run', newTestsFailOnBase: null, oldTestsPass: true },
  ],
  [
    'no test file',
    { testsChanged: [], newTestsOnBase: [], oldTestsOnChange: [] },
    {
      status: 'no_tests',
      newTestsFailOnBase: null,
      oldTestsPass: null,
      reason: 'no test file was added, changed or removed',
    },
  ],
  [
    'no test file, but one that decides how tests run',
    { testsChanged: [], newTestsOnBase: [], oldTestsOnChange: [], doubts },
    { status: 'no_tests', reason: `no test file was added, changed or removed; ${doubts[0]}` },
  ],
  ['a test that took the place of another', { testsRemoved: ['test/b.test.js'] }, { status: 'proved' }],
  [
    'only a removed test',
    { testsChanged: [], testsRemoved: ['test/a.test.js'], newTestsOnBase: [passed, passed] },
    { status: 'unproved', testsRemoved: ['test/a.test.js'] },
  ],
])('%s', (_name, observed, wanted) => {
  const proof = judgeProof(seen(observed));
  expect(proof).toMatchObject(wanted);
  expect(proof.reason === null).toBe(proof.status === 'proved');
});

test('only the expected results on both sides, without a doubt, prove a change', () => {
  const results: Attempt[][] = [
    [],
    ...[passed, failed, hung].flatMap((a) => [[a], ...[passed, failed, hung].map((b) => [a, b])]),
  ];
  for (const newTestsOnBase of results)
    for (const oldTestsOnChange of results)
      for (const some of [[], doubts]) {
        const { status } = judgeProof(seen({ newTestsOnBase, oldTestsOnChange, doubts: some }));
        const all = (attempts: Attempt[], wanted: string) =>
          attempts.length > 0 && attempts.every(({ outcome }) => outcome === wanted);
        const isProof = all(newTestsOnBase, 'failed') && all(oldTestsOnChange, 'passed') && some.length === 0;
        expect([status === 'proved', newTestsOnBase, oldTestsOnChange]).toEqual([
          isProof,
          newTestsOnBase,
          oldTestsOnChange,
        ]);
      }
});

test('a change that decides how its earlier tests run is marked, unless it is known to weaken them', () => {
  const hindered = (more: Partial<Observed> = {}) => judgeProof(seen({ doubts, isHindered: true, ...more }));
  expect(hindered()).toMatchObject({ status: 'unproved', isHindered: true });
  expect(hindered({ oldTestsOnChange: [failed, failed] })).not.toHaveProperty('isHindered');
  expect(hindered({ testsChanged: [] })).not.toHaveProperty('isHindered');
  expect(judgeProof(seen({ doubts }))).not.toHaveProperty('isHindered');
});

test('checks run once more after a result that was not expected, and only once', () => {
  expect([needsAnother([failed], 'failed'), needsAnother([passed], 'passed')]).toEqual([false, false]);
  expect([needsAnother([passed], 'failed'), needsAnother([failed], 'passed')]).toEqual([true, true]);
  expect([needsAnother([hung], 'failed'), needsAnother([hung], 'passed')]).toEqual([true, true]);
  expect(needsAnother([hung, hung], 'failed')).toBe(false);
});

test('of several repositories the worst counts, and each status is one sentence', () => {
  const of = (more: Partial<Observed>) => judgeProof(seen(more));
  const [proved, unproved, weakened] = [of({}), of({ doubts }), of({ oldTestsOnChange: [failed, failed] })];
  expect([worstOf([]), worstOf([proved, unproved])?.status]).toEqual([undefined, 'unproved']);
  expect(worstOf([unproved, weakened, proved])?.status).toBe('weakened');
  const changed = of({ oldTestsOnChange: [failed, failed], failing: ['adds'] });
  expect(worstOf([proved, changed])?.status).toBe('changed');
  expect(worstOf([changed, unproved])?.status).toBe('unproved');
  expect(markedProof(changed)).toBe('🔁 Expectations changed on purpose: these earlier tests fail with it: adds.');
  const all = [proved, changed, unproved, weakened, of({ newTestsOnBase: [hung] }), of({ testsChanged: [] })];
  for (const proof of all) expect(proofSentence(proof)).toMatch(/^[A-Z][^\n]+\.$/);
  expect(new Set(all.map(proofSentence)).size).toBe(6);
  expect([proved, unproved, weakened].map((proof) => markedProof(proof).split(' ')[0])).toEqual(['✅', 'Not', '⚠️']);
  expect(proofSentence(unproved)).toBe('Not proved by its tests: package.json decides how the tests run.');
  expect(proofSentence({ status: 'not_run', reason: null })).toMatch(/: the reason is unknown\.$/);
});
