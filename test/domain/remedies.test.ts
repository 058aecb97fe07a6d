import { endedByLimit, failure, failureCategories, limitNote, remedyFor } from '../../src/domain/run.ts';

const budget = (note = '') => remedyFor({ category: 'budget', message: `the budget of 5 steps is used up ${note}` });
const timeout = (note = '') =>
  remedyFor({ category: 'timeout', message: `the run took longer than 5 minutes ${note}` });

test('the remedy for an exceeded limit names exactly the people who can raise it', () => {
  expect(budget(limitNote('service'))).toMatch(/^Ask the operator to raise the limits of the service, or/);
  expect(budget(limitNote('project'))).toMatch(
    /^Ask an admin of the project to raise its budget in the project settings/,
  );
  expect(budget(limitNote('repository'))).toMatch(/^Raise `budget` in .deckhand.yml on the default branch/);
  expect(budget(limitNote('task'))).toMatch(
    /^Raise the budget of the task in the dashboard or with `\/agent budget`, or .* goes on/,
  );
  expect(timeout(limitNote('task'))).toContain('raise the minutes of the task');
  expect(timeout(limitNote('service'))).toContain('ask the operator to raise MAX_RUN_MINUTES');
  expect(timeout(limitNote('project'))).toContain('ask an admin of the project to raise its minutes per run');
  expect(timeout(limitNote('repository'))).toContain('raise `budget.minutes` in .deckhand.yml');
  for (const remedy of [budget(limitNote('project')), timeout(limitNote('project'))])
    expect(remedy).not.toMatch(/operator|MAX_RUN/);
});

test('a used-up daily budget is available again the next day', () => {
  const message = (setBy: 'service' | 'project') =>
    `the project's budget of $5 a day is used up ${limitNote(setBy, true)}`;
  expect(remedyFor({ category: 'budget', message: `${message('project')}; the task starts tomorrow` })).toMatch(
    /^Retry tomorrow \(UTC\)\. Ask an admin of the project/,
  );
  expect(remedyFor({ category: 'budget', message: message('service') })).toMatch(/tomorrow.*Ask the operator/);
});

test('a failure stored without details names everyone who may be able to help', () => {
  expect(budget()).toMatch(/admin of the project.*or the operator/);
  expect(timeout()).toContain('MAX_RUN_MINUTES');
});

test('every category has a remedy in whole sentences', () => {
  for (const category of failureCategories) expect(remedyFor({ category, message: 'x' })).toMatch(/^[A-Z].+\.$/);
});

test('a run that a limit ended can go on with its conversation; a step that took too long is no limit', () => {
  const message = `the run took longer than its 5 minutes ${limitNote('task')}`;
  expect(endedByLimit({ category: 'timeout', message })).toBe(true);
  expect(endedByLimit({ category: 'budget', message: 'x' })).toBe(true);
  expect(endedByLimit({ category: 'timeout', message: 'a step of the run took too long' })).toBe(false);
  expect(endedByLimit({ category: 'model', message })).toBe(false);
});

test('a failure keeps 2,000 characters of its message', () => {
  expect(failure('setup', `x${'y'.repeat(2000)}`).message).toBe(`x${'y'.repeat(1999)}`);
});

test('a retry may help after some failures, and after any with a temporary cause', () => {
  expect(failureCategories.filter((category) => failure(category, '').retryable)).toEqual([
    'rate_limit',
    'timeout',
    'model',
    'checks',
    'no_changes',
    'conflict',
    'internal',
  ]);
  expect([failure('auth', '', true).retryable, failure('model', '', true).retryable]).toEqual([true, true]);
});
