import { wantedCheck } from '../../../src/github/mirror/proofs/show-proofs.ts';
import { badgeOf } from '../../../src/runs/pull-proofs/badge.ts';
import type { PullProof } from '../../../src/runs/pull-proofs/pull-proofs.ts';

const proof: PullProof = {
  id: 'proof_1',
  repositoryId: 'repo_1',
  number: 7,
  headSha: 'a'.repeat(40),
  author: 'mona',
  runId: 'run_1',
  hold: null,
  isForeign: false,
  isRequired: false,
  minutesPerDay: 60,
  base: 'main',
  rules: null,
  isOutdated: false,
  status: null,
  reason: null,
  isHindered: false,
  notes: [],
  seconds: 0,
  checkRunId: null,
  checkShown: null,
  createdAt: new Date(0),
  runStatus: 'queued',
  failure: null,
};
const shown = (more: Partial<PullProof>) => wantedCheck({ ...proof, ...more }, '/agent');

test('a proof is queued, in progress, and then neutral, whatever it says', () => {
  expect(shown({}).status).toBe('queued');
  expect(shown({ runStatus: 'running' }).status).toBe('in_progress');
  for (const status of ['proved', 'changed', 'unproved', 'weakened', 'no_tests', 'not_run'] as const)
    expect(shown({ status, reason: 'it is so', runStatus: 'succeeded' })).toMatchObject({
      status: 'completed',
      conclusion: 'neutral',
    });
});

test('weakened tests fail where the repository requires that, and only they do', () => {
  const weakened = { status: 'weakened', reason: 'the earlier tests fail with this change' } as const;
  expect(shown({ ...weakened, isRequired: true })).toMatchObject({
    conclusion: 'failure',
    title: 'Tests were weakened: the earlier tests fail with this change.',
  });
  expect(shown({ status: 'unproved', reason: 'x', isRequired: true }).conclusion).toBe('neutral');
});

test('a change that decides how its own tests run may not be merged where proofs are required', () => {
  const hindered = { status: 'unproved', reason: 'package.json decides how the tests run', isHindered: true } as const;
  expect(shown({ ...hindered, isRequired: true })).toMatchObject({
    conclusion: 'action_required',
    title: 'Not proved by its tests: package.json decides how the tests run.',
    summary: expect.stringContaining('Propose that part in a pull request of its own first.'),
  });
  expect(shown(hindered).conclusion).toBe('neutral');
});

test('a stranger waits for a writer, and a repository without minutes for the next day', () => {
  const waits = shown({ hold: 'writer', runStatus: null });
  expect(waits).toMatchObject({ status: 'completed', conclusion: 'neutral' });
  expect(waits.summary).toContain('`/agent prove`');
  expect(shown({ hold: 'writer', runStatus: null, isRequired: true }).conclusion).toBe('action_required');
  const over = shown({ hold: 'minutes', runStatus: 'cancelled' });
  expect(over).toMatchObject({ status: 'completed', conclusion: 'neutral' });
  expect(over.summary).toContain('60 minutes a day');
  // Otherwise, somebody could use up the minutes and then merge weakened tests.
  const unseen = shown({ hold: 'minutes', runStatus: 'cancelled', isRequired: true });
  expect(unseen.conclusion).toBe('action_required');
  expect(unseen.summary).toContain('now if somebody with write permission comments `/agent prove`');
  expect(shown({ runStatus: 'cancelled' }).conclusion).toBe('cancelled');
});

test('the check run says what is wrong with the settings, and when they can be used again', () => {
  const held = { hold: 'settings', runId: null, runStatus: null } as const;
  const broken = shown({ ...held, reason: 'line 2: "prove" must be one of ours, everyone; @octocat wrote it' });
  expect(broken).toMatchObject({ conclusion: 'neutral', title: '.deckhand.yml cannot be used' });
  expect(broken.summary).toContain('line 2: "prove" must be');
  expect(broken.summary).not.toContain('@octocat');
  expect(shown({ ...held, reason: 'x', isRequired: true }).conclusion).toBe('action_required');
  expect(shown({ ...held, reason: null })).toMatchObject({ conclusion: 'neutral', title: 'No proof is wanted' });
});

test('names of files in a reason mention nobody and run no command', () => {
  const reason = '@octocat /agent merge was removed';
  expect(shown({ status: 'unproved', reason }).summary).not.toContain('@octocat');
});

test('a badge shows the share of the latest three months', () => {
  const month = (name: string, proved: number, judged: number) => ({ month: name, proved, judged });
  expect(badgeOf([])).toMatchObject({ message: 'unknown' });
  expect(
    badgeOf([month('2026-11', 3, 4), month('2026-10', 1, 1), month('2026-09', 1, 1), month('2026-08', 0, 9)]),
  ).toEqual({
    schemaVersion: 1,
    label: 'proved by tests',
    message: '83 %',
    color: 'brightgreen',
  });
});
