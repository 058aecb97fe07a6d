import { completionText, healthReason } from '../../../src/web/agents/agent-texts.ts';
import type { Attention, Task, TimelineEntry } from '../../../src/web/api.ts';
import { isOvertaken, overtakenText, type Standing } from '../../../src/web/tasks/timeline/overtaken.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 5, 10, minute)).toISOString();
const plan: Attention = { id: 'wait_1', reason: 'plan', text: '', options: [], since: at(5) };
const [mona, hubot] = [
  { id: 'user_1', login: 'mona' },
  { id: 'user_2', login: 'hubot' },
];

const standing = (changes: Partial<Task> = {}) =>
  ({ status: 'in_progress', updatedAt: at(5), attention: plan, ...changes }) as Task;
const entry = (minute: number, type: string, actor: TimelineEntry['actor'], changes = {}) =>
  ({ at: at(minute), type, actor, agent: null, text: '', changes }) as TimelineEntry;

test('a dialog is overtaken when the status or the wait that it is about has changed', () => {
  const before = standing();
  expect(isOvertaken(before, standing({ updatedAt: at(9) }))).toBe(false);
  expect(isOvertaken(before, standing({ attention: null }))).toBe(true);
  expect(isOvertaken(before, standing({ attention: { ...plan, id: 'wait_2' } }))).toBe(true);
  expect(isOvertaken(before, standing({ status: 'ready', attention: plan }))).toBe(true);
  // A message to the agent can be sent whatever its run waits for.
  const message: Standing = { ...before, attention: null };
  expect(isOvertaken(message, standing({ attention: null }))).toBe(false);
});

test('it says who decided first, and what, whatever happened before and after', () => {
  const approved = entry(7, 'approve', hubot, { attention: ['plan', null] });
  const entries = [
    entry(9, 'pause', mona),
    approved,
    entry(6, 'say', mona),
    entry(5, 'wait_plan', null),
    entry(1, 'start', mona),
  ];
  const now = standing({ attention: null });
  expect(overtakenText(standing(), now, entries, 'user_1')).toBe('hubot approved the plan while this was open.');
  expect(overtakenText(standing(), now, entries, 'user_2')).toBe('You approved the plan while this was open.');
});

test('a merge by somebody else is told from the start before it; what nobody decided has only its status', () => {
  const before = standing({ status: 'in_review', attention: null });
  const started = entry(5, 'start', mona);
  const now = standing({ status: 'done', attention: null });
  const merged = [entry(8, 'merge', hubot), entry(7, 'update', hubot, { title: ['a', 'b'] }), started];
  expect(overtakenText(before, now, merged, 'user_1')).toBe('hubot merged the pull requests while this was open.');
  expect(overtakenText(before, now, [entry(8, 'pull_merged', null), started], 'user_1')).toBe(
    'Nothing is left to decide here. The task is now Done.',
  );
});

test('an agent that is not healthy says why', () => {
  expect(healthReason({ consecutiveFailures: 1 })).toBe('This agent has had 1 consecutive failure.');
  expect(healthReason({ consecutiveFailures: 0 })).toBe('The worker of a run of this agent does not respond.');
});

test('a completion time is unknown before the first one, and never zero', () => {
  expect(completionText({ completedTasks: 0, averageCompletionTime: '0h 0m' })).toBe('–');
  expect(completionText({ completedTasks: 2, averageCompletionTime: '0h 0m' })).toBe('under 1 min');
  expect(completionText({ completedTasks: 2, averageCompletionTime: '1h 4m' })).toBe('1 h 4 min');
  expect(completionText({ completedTasks: 2, averageCompletionTime: '0h 1m' })).toBe('1 min');
});
