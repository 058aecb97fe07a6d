import {
  aboveLimit,
  budgetText,
  exhausted,
  exhaustedDay,
  exhaustedPersonDay,
  keysAbove,
  limitsInBudget,
  limitsOfService,
  lowerLimits,
  nearLimits,
  readBudget,
} from '../../src/domain/budget.ts';

const service = { runMinutes: 30, runSteps: 10, runTokens: 1000, runCostUsd: 0.5, dayCostUsd: 2 };
const none = { runMinutes: null, runSteps: null, runTokens: null, runCostUsd: null, dayCostUsd: null };

test('a budget may be as high as the limit of the service, and not higher', () => {
  expect(aboveLimit(service, service)).toEqual([]);
  expect(aboveLimit({ runMinutes: 31, runSteps: 10, runCostUsd: 0.51 }, service)).toEqual(['runMinutes', 'runCostUsd']);
  expect(aboveLimit({ ...none, dayCostUsd: undefined }, service)).toEqual([]);
});

test('only a lower budget replaces a limit; the setter of an equal one stays', () => {
  const limits = lowerLimits(limitsOfService(service), 'project', {
    ...none,
    runMinutes: 31,
    runSteps: 10,
    runTokens: 999,
  });
  expect(limits).toMatchObject({
    runMinutes: { value: 30, setBy: 'service' },
    runSteps: { value: 10, setBy: 'service' },
    runTokens: { value: 999, setBy: 'project' },
    runCostUsd: { value: 0.5, setBy: 'service' },
  });
  expect(lowerLimits(limits, 'repository', { ...none, runTokens: 0 }).runTokens).toEqual({
    value: 0,
    setBy: 'repository',
  });
});

test('a limit is used up once it is reached, not before', () => {
  const limits = limitsOfService(service);
  const sums = { steps: 9, tokens: 999, costUsd: 0.49, dayCostUsd: 1.99, minutes: 0 };
  expect(exhausted(limits, sums)).toBeUndefined();
  expect(exhausted(limits, { ...sums, steps: 10 })).toContain('10 steps');
  expect(exhausted(limits, { ...sums, steps: 11 })).toContain('10 steps');
  expect(exhausted(limits, { ...sums, tokens: 1000 })).toContain('1000 tokens');
  expect(exhausted(limits, { ...sums, tokens: 1001 })).toContain('1000 tokens');
  expect(exhausted(limits, { ...sums, costUsd: 0.5 })).toContain('$0.5 for a run');
  expect(exhausted(limits, { ...sums, costUsd: 0.51 })).toContain('$0.5 for a run');
  expect(exhausted(limits, { ...sums, dayCostUsd: 2.01 })).toContain('$2 a day');
  expect(exhausted(limits, { ...sums, personDayIsOver: 'it is used up' })).toBe('it is used up');
  expect([exhaustedPersonDay(20, 19.99), exhaustedPersonDay(20, 20)]).toEqual([
    undefined,
    expect.stringContaining('$20 a day for all projects'),
  ]);
});

test('a limit is near from 80 % on', () => {
  const limits = limitsOfService(service);
  const sums = { steps: 7, tokens: 799, costUsd: 0.39, dayCostUsd: 2, minutes: 23.9 };
  expect(nearLimits(limits, sums)).toEqual([]);
  expect(nearLimits(limits, { ...sums, steps: 8, tokens: 800, costUsd: 0.404, minutes: 24.19 })).toEqual([
    { unit: 'steps', used: 8, value: 10 },
    { unit: 'tokens', used: 800, value: 1000 },
    { unit: 'dollars', used: 0.4, value: 0.5 },
    { unit: 'minutes', used: 24.1, value: 30 },
  ]);
});

test('the cost of a day says that its limit is daily', () => {
  expect(exhaustedDay({ value: 2, setBy: 'project' }, 1.99)).toBeUndefined();
  expect(exhaustedDay({ value: 2, setBy: 'project' }, 2)).toMatch(
    /\$2 a day is used up \(daily limit of the project\)$/,
  );
});

test('the budget of a task lowers the limits of each run, and may not exceed those of project and service', () => {
  const limits = lowerLimits(limitsOfService(service), 'project', { ...none, runSteps: 8 });
  expect(keysAbove({ costUsd: 0.5, steps: 8, minutes: 30, tokens: 1000 }, limits)).toEqual([]);
  expect(keysAbove({ costUsd: 0.51, steps: 9 }, limits).map(({ key, limit }) => [key, limit])).toEqual([
    ['costUsd', { value: 0.5, setBy: 'service' }],
    ['steps', { value: 8, setBy: 'project' }],
  ]);
  expect(lowerLimits(limits, 'task', limitsInBudget({ steps: 3, minutes: 90 }))).toMatchObject({
    runSteps: { value: 3, setBy: 'task' },
    runMinutes: { value: 30, setBy: 'service' },
  });
});

test.each<[string, object | undefined]>([
  ['$8', { costUsd: 8 }],
  ['$ 0.50', { costUsd: 0.5 }],
  ['8 USD', { costUsd: 8 }],
  ['steps 200', { steps: 200 }],
  ['200 steps', { steps: 200 }],
  ['Minutes 7.5', { minutes: 7.5 }],
  ['tokens 1,500,000', { tokens: 1_500_000 }],
  ['$8, 200 steps', { costUsd: 8, steps: 200 }],
  ['$8 steps 200\nminutes 30', { costUsd: 8, steps: 200, minutes: 30 }],
  ...['', '8', '$', '$0', '-$8', '$-8', 'steps', 'steps 1.5', 'tokens many', 'weeks 2', 'constructor 3'].map(
    (text): [string, undefined] => [text, undefined],
  ),
  ['$8 please', undefined],
  ['$9999999999999', undefined],
])('the budget in %j', (text, expected) => {
  expect(readBudget(text)).toEqual(expected);
});

test('a budget sets the limits that it names', () => {
  expect(limitsInBudget({ minutes: 1, steps: 2, tokens: 3, costUsd: 4 })).toEqual({
    runMinutes: 1,
    runSteps: 2,
    runTokens: 3,
    runCostUsd: 4,
    dayCostUsd: null,
  });
  expect(limitsInBudget({})).toEqual(none);
});

test('a budget exceeds no limit that it does not name, however low', () => {
  const limits = limitsOfService({ ...service, runCostUsd: 0.5, runSteps: 0 });
  expect(keysAbove({ minutes: 30 }, limits)).toEqual([]);
});

test('a budget is written as people would write it', () => {
  expect(budgetText({ tokens: 1_500_000, minutes: 1, steps: 200, costUsd: 0.5 })).toBe(
    '$0.50, 200 steps, 1 minute, 1,500,000 tokens',
  );
});
