import {
  builtInAgents,
  hasRole,
  healthStatus,
  hoursAndMinutes,
  priority,
  proficiencies,
  proficiency,
  roles,
  shippedAgents,
  successRate,
} from '../../src/domain/agent.ts';

test('every project starts with the five built-in agents', () => {
  expect(shippedAgents.map(({ builtIn }) => builtIn)).toEqual([...builtInAgents]);
});

test('a role includes the rights of the weaker ones', () => {
  const table = roles.map((actual) => roles.map((required) => hasRole(actual, required)));
  expect(table).toEqual([
    [true, false, false, false],
    [true, true, false, false],
    [true, true, true, false],
    [true, true, true, true],
  ]);
});

test('the success rate counts only tasks that ended', () => {
  expect(successRate({ completedTasks: 0, failedTasks: 0 })).toBe(0);
  expect(successRate({ completedTasks: 3, failedTasks: 1 })).toBe(0.75);
  expect(successRate({ completedTasks: 1, failedTasks: 0 })).toBe(1);
});

test('a time is rounded to minutes', () => {
  expect([null, 29, 30, 3599, 5040].map(hoursAndMinutes)).toEqual(['0h 0m', '0h 0m', '0h 1m', '1h 0m', '1h 24m']);
});

test('failures in a row, or a run that nobody holds, make an agent unhealthy', () => {
  expect([0, 1, 2, 3, 4].map((failures) => healthStatus(failures, false))).toEqual([
    'healthy',
    'degraded',
    'degraded',
    'unhealthy',
    'unhealthy',
  ]);
  expect(healthStatus(0, true)).toBe('unhealthy');
});

test('proficiency rises with merged tasks; a rate below 0.7 lowers it by one level', () => {
  const levels = (rate: number) =>
    [0, 1, 2, 4, 5, 14, 15, 39, 40].map((merged) => proficiencies.indexOf(proficiency(merged, rate)));
  expect(levels(0.7)).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4]);
  expect(levels(0.69)).toEqual([0, 0, 0, 0, 1, 1, 2, 2, 3]);
});

test('a failure that repeats is urgent', () => {
  expect([1, 2, 4, 5, 6].map(priority)).toEqual(['low', 'medium', 'medium', 'high', 'high']);
});
