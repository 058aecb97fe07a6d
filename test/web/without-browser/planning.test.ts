import type { PlannedTask, Spend } from '../../../src/web/api.ts';
import { costText } from '../../../src/web/planning/cost-text.ts';
import { dependentsOf, partialJson, partText, versionOf, writtenParts } from '../../../src/web/planning/part-text.ts';
import { wholeSprint } from '../../../src/web/sprints/burndown-days.ts';

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

test('the burndown shows all days of a sprint, with the ideal line down to zero', () => {
  const point = (date: string, ideal: number, actual: number | null) => ({ date, ideal, actual, low: 0, high: 0 });
  const days = { startDate: '2026-01-05T00:00:00Z', endDate: '2026-01-09T00:00:00Z', taskCount: 4 };
  const known = [point('2026-01-05', 4, 4), point('2026-01-06', 3, 2)];
  expect(wholeSprint(known, days).map(({ date, ideal, actual }) => [date, ideal, actual])).toEqual([
    ['2026-01-05', 4, 4],
    ['2026-01-06', 3, 2],
    ['2026-01-07', 2, null],
    ['2026-01-08', 1, null],
    ['2026-01-09', 0, null],
  ]);
  // A forecast may go beyond the last day.
  const late = [...known, point('2026-01-10', 0, null)];
  expect(wholeSprint(late, days)).toEqual(late);
  const short = { ...days, endDate: days.startDate };
  expect(wholeSprint([point('2026-01-05', 0, 1)], short)[0]).toEqual({ date: 'Start', ideal: 4, actual: 4 });
  expect(wholeSprint([], days)).toEqual([]);
});

test('what a step of a plan costs is said as far as it is known', () => {
  const used = { costUsd: 1.2, inputTokens: 10, outputTokens: 2 };
  const spend = {
    days: [{ costUsd: 3 }, { costUsd: 0.42 }],
    agents: [
      { agentId: null, ...used },
      { agentId: 'agent_1', ...used },
      { agentId: 'agent_2', ...used, costUsd: 0 },
    ],
    budget: { dayCostUsd: 20 },
  } as unknown as Spend;
  const step = (model: string) =>
    `This step calls ${model}, which costs money. The price depends on how much the model reads and writes.`;
  const today = 'Today, $0.42 of the budget of $20.00 is spent.';
  expect([
    costText('part', { id: 'agent_1', model: 'gpt-x' }, spend),
    costText('part', { id: 'agent_2', model: '' }, spend),
    costText('part', { id: 'agent_3', model: '' }, spend),
    costText('part', undefined, spend),
    costText('part', undefined, undefined),
  ]).toEqual([
    `${step('the model gpt-x')} In the last 2 days, plans and all other work of the Software Architect cost $1.20. ${today}`,
    `${step('the default model')} The price of its model is not configured, so the cost is not counted. ${today}`,
    `${step('the default model')} In the last 2 days, the Software Architect has cost nothing in this project. ${today}`,
    `${step('the default model')} ${today}`,
    step('the default model'),
  ]);
  expect(costText('questions', undefined, undefined)).toMatch(
    /^Each question calls the default model, which costs money\. /,
  );
});

test('a planned task cannot wait for those that wait for it, directly or through others', () => {
  const task = (ref: string, ...dependsOn: string[]) => ({ ref, dependsOn });
  const tasks = [task('a'), task('b', 'a'), task('c', 'b'), task('d'), task('e', 'e', 'd')];
  expect([...dependentsOf('a', tasks)]).toEqual(['b', 'c']);
  expect([...dependentsOf('c', tasks)]).toEqual([]);
  expect([...dependentsOf('e', tasks)]).toEqual(['e']);
});
