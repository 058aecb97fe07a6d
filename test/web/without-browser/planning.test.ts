import type { PlannedTask } from '../../../src/web/api.ts';
import { partialJson, partText, versionOf, writtenParts } from '../../../src/web/planning/part-text.ts';

test('JSON that is still arriving is shown as far as it goes', () => {
  const whole = {
    title: 'Say "hi" \\ and \u00e9',
    phases: [{ name: 'a', goal: 'x, y' }, { name: 'b{[' }],
    n: -1.5,
    on: true,
  };
  for (const text of [JSON.stringify(whole), JSON.stringify(whole).replace('\u00e9', '\\u00e9')]) {
    expect(partialJson(text)).toEqual(whole);
    // Each beginning can be parsed, and the title only grows.
    let before = '';
    for (let end = 1; end < text.length; end++) {
      const { title = '' } = partialJson(text.slice(0, end)) as { title?: string };
      expect(title.startsWith(before)).toBe(true);
      before = title;
    }
    expect(before).toBe(whole.title);
  }
  expect(partialJson('')).toBeUndefined();
  expect(partialJson('not JSON')).toBeUndefined();
});

test('a new estimate does not count as an edit of the task', () => {
  const task = { ref: 'a', title: 'Greet', description: '', owner: null, ownerReason: null, repositoryId: null };
  const tasks = [{ ...task, dependsOn: [] }];
  const estimate = { likelyMinutes: 40, safeMinutes: 60, workMinutes: 9, basedOn: ['task_1'], isSimilar: true };
  const read = { prd: null, plan: null, tasks: tasks.map((each) => ({ ...each, estimate })) };
  expect(writtenParts(read)).toEqual({ prd: null, plan: null, tasks });
  const updatedAt = '2026-01-05T10:00:00.000Z';
  expect(versionOf({ ...read, updatedAt }, 'tasks')).toEqual({ content: tasks, updatedAt });
});

test('a part of a plan becomes text with names instead of ids', () => {
  const task: PlannedTask = {
    ref: 'a',
    title: 'Greet',
    description: 'Politely',
    owner: 'agent_1',
    ownerReason: null,
    repositoryId: null,
    dependsOn: ['b', 'c'],
  };
  const parts = { prd: null, plan: null, tasks: [task] };
  expect(partText('tasks', parts, new Map([['agent_1', 'Developer']]))).toBe(
    'a: Greet\nAgent: Developer\nRepository: first\nDepends on: b, c\nPolitely',
  );
  expect(partText('prd', parts, new Map())).toBe('');
});
