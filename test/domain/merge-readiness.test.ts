import { mergeProblems, type PullReadiness } from '../../src/domain/merge-readiness.ts';
import type { Proof } from '../../src/domain/proof/proof.ts';

const green: PullReadiness = {
  name: 'sample #5',
  isDraft: false,
  isUnready: false,
  moved: null,
  mergeable: true,
  isBlocked: false,
  checks: [{ name: 'build', outcome: 'passed', url: null, required: false }],
  reviews: [{ login: 'hubot', state: 'approved' }],
  review: null,
  missingOwners: [],
  needsOwners: false,
  error: null,
};
const proof: Proof = {
  status: 'proved',
  newTestsFailOnBase: true,
  oldTestsPass: true,
  testsChanged: [],
  testsRemoved: [],
  reason: null,
};
const problems = (
  changes: Partial<PullReadiness> = {},
  more: { hasLiveRun?: boolean; proof?: Proof; dropped?: string[] } = {},
) =>
  mergeProblems({ hasLiveRun: false, proof, dropped: [], pulls: [{ ...green, ...changes }], ...more }).map(
    ({ text, blocks }) => `${blocks ? 'blocks' : 'warns'}: ${text}`,
  );
const failing = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `check ${i + 1}`,
    outcome: 'failed' as const,
    url: null,
    required: false,
  }));

test('a merge has no problems when everything is green, or nothing was asked for', () => {
  expect(problems()).toEqual([]);
  expect(problems({ checks: [], reviews: [] })).toEqual([]);
  expect(problems({ checks: null, reviews: null })).toEqual([]);
});

test.each<[Partial<PullReadiness>, string]>([
  [{ isDraft: true, isBlocked: true }, 'blocks: sample #5 is a draft. Mark it ready for review on GitHub first.'],
  [
    { isDraft: true, isUnready: true },
    'blocks: sample #5 is a draft, because its newest commits are not ready. Let the agent go on, or mark it ready for review on GitHub.',
  ],
  [
    { isUnready: true },
    "blocks: The last commit of sample #5 is an agent's and was not checked for the branch into which it goes, or is not ready. Request changes to start another run, or merge it on GitHub yourself.",
  ],
  [
    { moved: { to: 'release', from: 'main' } },
    'blocks: sample #5 goes to the branch release now, not to main. Change its base back, or merge it on GitHub. Its checks count again after another run.',
  ],
  [
    { mergeable: false, isBlocked: true },
    'blocks: sample #5 conflicts with its base branch. Request changes to have the agent resolve this.',
  ],
  [{ mergeable: null }, 'warns: GitHub has not decided yet whether sample #5 can be merged.'],
  [{ isBlocked: true }, 'warns: The rules of the base branch of sample #5 are not met yet.'],
  [{ mergeable: null, error: 'no answer.' }, 'warns: sample #5 could not be read from GitHub: no answer.'],
  [{ checks: failing(1) }, 'warns: 1 check of sample #5 failed: check 1.'],
  [{ checks: failing(5) }, 'warns: 5 checks of sample #5 failed: check 1, check 2, check 3, check 4, check 5.'],
  [{ checks: failing(7) }, 'warns: 7 checks of sample #5 failed: check 1, check 2, check 3, check 4, check 5, ….'],
  [
    { checks: [{ name: 'lint', outcome: 'running', url: null, required: false }] },
    'warns: 1 check of sample #5 not finished: lint.',
  ],
  [{ reviews: [{ login: 'hubot', state: 'changes_requested' }] }, 'warns: hubot requested changes to sample #5.'],
  [
    { reviews: [{ login: 'hubot', state: 'changes_requested', isTold: false }] },
    'warns: hubot requested changes to sample #5. The agent was not told, because it follows only people with write permission.',
  ],
])('%j', (changes, expected) => {
  expect(problems(changes)).toEqual([expected]);
});

test('what blocks a merge comes first, and a change that its tests do not prove is a warning', () => {
  const unproved: Proof = { ...proof, status: 'unproved', reason: 'the tests of this change also pass without it' };
  expect(problems({ checks: failing(1) }, { hasLiveRun: true, proof: unproved })).toEqual([
    'blocks: The task has an unfinished run. Wait for it to end, or cancel it.',
    'warns: 1 check of sample #5 failed: check 1.',
    'warns: Not proved by its tests: the tests of this change also pass without it.',
  ]);
  expect(mergeProblems({ hasLiveRun: false, pulls: [], proof: unproved, dropped: [] })).toEqual([
    { text: 'The task has no open pull request to merge.', blocks: true },
  ]);
});

test('a revision that changed nothing speaks against a merge until another run changes something', () => {
  const facts = { pulls: [], proof: undefined, dropped: [] };
  const text = 'The last revision changed nothing, so what it was asked for is still open.';
  const problemsOf = (about: object) => mergeProblems({ ...facts, hasLiveRun: false, ...about });
  expect(problemsOf({ changedNothing: true })).toContainEqual({ text, blocks: false });
  expect(problemsOf({ changedNothing: true, hasLiveRun: true }).map((each) => each.text)).not.toContain(text);
  expect(problemsOf({}).map((each) => each.text)).not.toContain(text);
});

test('why GitHub no longer merges it is a warning', () => {
  expect(problems({}, { dropped: ['GitHub took it out of its merge queue: somebody removed it.'] })).toEqual([
    'warns: GitHub took it out of its merge queue: somebody removed it.',
  ]);
});

test('required checks are named first and marked; missing reviews and code owners are named', () => {
  const failed = (name: string, required: boolean) => ({ name, outcome: 'failed' as const, url: null, required });
  const owners = { owners: ['@acme/docs', '@ada'], paths: ['docs/a.md', 'docs/b.md'], count: 3 };
  const checks = [failed('lint', false), failed('test', true)];
  expect(problems({ checks, review: 'required', missingOwners: [owners], needsOwners: true })).toEqual([
    'warns: A review of sample #5 that its base branch requires is missing.',
    'warns: A required review of sample #5 by a code owner is missing: @acme/docs, @ada for docs/a.md and 2 more.',
    'warns: 2 checks of sample #5 failed: test (required), lint.',
  ]);
  expect(problems({ missingOwners: [{ ...owners, count: 1 }] })).toEqual([
    'warns: A review of sample #5 by a code owner is missing: @acme/docs, @ada for docs/a.md.',
  ]);
});
