import type { InboxEntry, OpenIssue, Task } from '../../../src/web/api.ts';
import { notificationsFor } from '../../../src/web/inbox/notifications.ts';
import { departedEntries, heldBack, keyOf, newEntries, outcomeOf } from '../../../src/web/inbox/outcome.ts';
import { choosableDays, snoozeText, timeOn, usualTimes } from '../../../src/web/inbox/snooze-times.ts';
import { isComplete, stepsOf } from '../../../src/web/onboarding/steps.ts';
import {
  accessText,
  filterIssues,
  foundText,
  importedText,
  matchesOf,
  withAll,
} from '../../../src/web/repositories/choosing.ts';

// The rules of the inbox, of the checklist for new projects, and of picking repositories and issues.

function entry(taskId: string, more: Partial<InboxEntry> = {}): InboxEntry {
  return {
    taskId,
    projectId: 'proj_1',
    reason: 'plan',
    title: `Task ${taskId}`,
    text: '',
    since: '2026-01-05T10:00:00.000Z',
    ...more,
  };
}

test('a task that needs something else, or needs it again, is a new entry; one that needs nobody leaves the inbox', () => {
  const before = [entry('a'), entry('b'), entry('c')];
  const now = [entry('a'), entry('b', { reason: 'question' }), entry('d')];
  expect(newEntries(before, now)).toEqual([now[1], now[2]]);
  expect(newEntries([entry('a')], [entry('a', { since: '2026-01-05T11:00:00.000Z' })])).toHaveLength(1);
  expect(departedEntries(before, now)).toEqual([before[2]]);
});

test('new entries wait while some of those are shown that the person has seen', () => {
  const known = new Set([entry('a'), entry('b')].map(keyOf));
  const later = entry('a', { reason: 'question' });
  expect(heldBack(known, [entry('c'), later, entry('b')])).toEqual({
    ...{ shown: [entry('b')], waiting: [entry('c'), later] },
  });
  expect(heldBack(known, [entry('c')])).toEqual({ shown: [entry('c')], waiting: [] });
});

test.each<[InboxEntry['reason'], Task['status'] | undefined, string]>([
  ['plan', 'in_progress', 'The run of “Task a” continues.'],
  ['failed', 'in_progress', 'An agent works on “Task a” again.'],
  ['review', 'done', '“Task a” is now in Done.'],
  ['paused', 'ready', '“Task a” is now in Ready.'],
  ['push', 'in_review', '“Task a” is ready for review.'],
  ['question', undefined, '“Task a” was deleted.'],
])('what became of an entry for %s when its task is %s', (reason, status, expected) => {
  expect(outcomeOf(entry('a', { reason }), status && ({ status } as Task))).toBe(expected);
});

test('an entry that leaves because of its responsible person is not taken for a decision', () => {
  const inReview = { status: 'in_review', responsible: 'user_2', failure: null, attention: null } as Task;
  const review = entry('a', { reason: 'review' });
  expect(outcomeOf(review, inReview, 'user_1')).toBe('Somebody else is responsible for “Task a” now.');
  expect(outcomeOf(review, inReview, 'user_2')).toBe('“Task a” is ready for review.');
  expect(outcomeOf(review, { ...inReview, status: 'done' }, 'user_1')).toBe('“Task a” is now in Done.');
});

test('a snooze ends at nine in the morning: tomorrow, on another next Monday, or on a chosen day', () => {
  const local = (...at: [number, number, number, number?, number?]) => new Date(...at);
  const sunday = local(2026, 0, 4, 23, 59);
  expect(usualTimes(sunday)).toEqual([{ name: 'Tomorrow', until: local(2026, 0, 5, 9) }]);
  const monday = local(2026, 0, 5, 0, 1);
  expect(usualTimes(monday)).toEqual([
    { name: 'Tomorrow', until: local(2026, 0, 6, 9) },
    { name: 'Next week', until: local(2026, 0, 12, 9) },
  ]);
  expect(usualTimes(local(2026, 11, 31))[1]?.until).toEqual(local(2027, 0, 4, 9));
  expect(snoozeText(local(2026, 10, 30, 9))).toMatch(/\b0?9:00\b/);
  expect(choosableDays(monday)).toEqual({ min: '2026-01-06', max: '2026-04-04' });
  expect(timeOn('2026-02-28', monday)).toEqual(local(2026, 1, 28, 9));
  for (const wrong of ['', '2026-01-05', '2026-04-05', '2026-02-30', 'tomorrow'])
    expect(timeOn(wrong, monday)).toBeUndefined();
});

test('few entries get a notification each, many get one together', () => {
  const [first, second] = notificationsFor([entry('a'), entry('b', { reason: 'failed' })]);
  expect(first).toEqual({
    title: 'Plan to approve',
    body: 'Task a',
    tag: 'a 2026-01-05T10:00:00.000Z',
    path: '/tasks/a',
  });
  expect(second?.title).toBe('Failed');
  const many = notificationsFor(['a', 'b', 'c', 'd'].map((id) => entry(id)));
  expect(many).toEqual([{ title: '4 tasks need you', body: 'Task a', tag: 'a b c d', path: '/' }]);
  expect(notificationsFor([])).toEqual([]);
});

test('the steps of a new project lead to the pages where they are done', () => {
  const state = {
    hasGitAccess: true,
    repositoryId: 'repo_1',
    isEnvironmentTried: false,
    hasModel: false,
    hasDoneTask: false,
  };
  const steps = stepsOf('proj_1', 'https://github.com/apps/deckhand/installations/new', state);
  expect(steps.map(({ isDone, to }) => [isDone, to])).toEqual([
    [true, 'https://github.com/apps/deckhand/installations/new'],
    [true, '/projects/proj_1/repositories'],
    [false, '/projects/proj_1/repositories/repo_1'],
    [false, '/projects/proj_1/settings'],
    [false, '/projects/proj_1?new=one'],
  ]);
  expect(isComplete(state)).toBe(false);
  expect(isComplete({ ...state, isEnvironmentTried: true, hasModel: true, hasDoneTask: true })).toBe(true);
  expect(stepsOf(undefined, null).map(({ isDone, to }) => [isDone, to])).toEqual(Array(5).fill([false, '/projects']));
});

test('a search finds repositories by every word, those first whose name begins with it', () => {
  const repositories = ['acme/slug-tools', 'acme/old-slugs', 'slugs/site'].map((fullName) => ({
    fullName,
    isConnected: fullName === 'slugs/site',
  }));
  const names = (search: string) => matchesOf(repositories, search).map(({ fullName }) => fullName);
  expect(names('')).toEqual(['acme/slug-tools', 'acme/old-slugs']);
  expect(names('SLUG')).toEqual(['acme/slug-tools', 'acme/old-slugs', 'slugs/site']);
  expect(names('slugs acme')).toEqual(['acme/old-slugs']);
  expect(names('site')).toEqual(['slugs/site']);
});

test('people learn that every repository of the App is connected', () => {
  const [open, connected] = [false, true].map((isConnected) => ({ fullName: 'acme/a', isConnected }));
  expect(
    [[open], [open, connected], [connected], [connected, connected]].map((list) => accessText(list as never)),
  ).toEqual([
    'The GitHub App has access to 1 repository. Press Enter to take the first match.',
    'The GitHub App has access to 2 repositories. Press Enter to take the first match.',
    'The GitHub App has access to 1 repository, which is connected.',
    'The GitHub App has access to 2 repositories, and all of them are connected.',
  ]);
});

test('issues are found by title, label and number, and an import says what it skipped', () => {
  const issue = (number: number, title: string, labels: string[] = []) => ({ number, title, labels }) as OpenIssue;
  const issues = [issue(12, 'Slow'), issue(3, 'Broken in 12 ways'), issue(4, 'Typo', ['good first issue'])];
  const numbers = (search: string) => filterIssues(issues, search).map(({ number }) => number);
  expect(numbers('')).toEqual([12, 3, 4]);
  expect(numbers('12')).toEqual([12, 3]);
  expect(numbers('#1')).toEqual([12]);
  expect(numbers('FIRST')).toEqual([4]);
  const open = Array.from({ length: 70 }, (_, i) => ({ number: i + 1, taskId: i === 0 ? 'task_1' : null }));
  expect(withAll([], open.slice(0, 4))).toEqual([2, 3, 4]);
  expect(withAll([4], open.slice(0, 4))).toEqual([4, 2, 3]);
  expect(withAll([], open)).toHaveLength(50);
  const imported = [3, 5].map((number) => ({ number, taskId: `task_${number}` }));
  const texts = [0, 1, 2].flatMap((count) =>
    [false, true].map((isStarted) => importedText({ imported: imported.slice(0, count), skipped: [] }, isStarted)),
  );
  expect(texts).toEqual([
    'No task was created.',
    'No task was created.',
    '1 task created.',
    '1 task created. It is started.',
    '2 tasks created.',
    '2 tasks created. They are started.',
  ]);
  expect(
    importedText({ imported: [], skipped: [{ number: 4, reason: 'Issue 4 is closed.', taskId: null }] }, false),
  ).toBe('No task was created. Issue 4 is closed.');
});

test('what a test of a repository found is written in sentences', () => {
  const message = 'The repository could not be reached';
  expect(foundText({ message, error: 'The host could not be reached. Check the address' })).toBe(
    'The repository could not be reached. The host could not be reached. Check the address.',
  );
  expect(foundText({ message: 'Reached. It has 1 branch.' })).toBe('Reached. It has 1 branch.');
});
