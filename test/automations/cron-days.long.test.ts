import fc from 'fast-check';
import cron from 'node-cron';
import { daysOfCron } from '../../src/automations/days.ts';
import { RehearsalTrigger } from '../../src/automations/schemas.ts';
import { cronProblem, scheduleOfCron } from '../../src/automations/times.ts';
import { timeOf } from '../support/machine/processor-time.ts';
import { isThorough } from '../support/thorough.ts';

// Any viewer may ask for the times of a schedule, and the process that serves requests works them out.

const day = 86_400_000;
const between = (min: number, max: number) => fc.integer({ min, max });
const two = (max: number) => fc.tuple(between(1, max), between(1, max));
const stepsOr = (max: number, ...more: fc.Arbitrary<string>[]) =>
  fc.oneof(
    fc.constant('*'),
    between(1, max).map(String),
    two(max).map(([a, b]) => `${a}-${b}`),
    fc.tuple(two(max), between(1, 9)).map(([[a, b], step]) => `${a}-${b}/${step}`),
    between(1, max).map((step) => `*/${step}`),
    ...more,
  );
const ofMonth = stepsOr(
  31,
  fc.constantFrom('L', 'l', 'LW', 'lw'),
  between(1, 31).map((n) => `${n}W`),
  between(1, 30).map((n) => `L-${n}`),
);
const weekday = fc.constantFrom(...'01234567'.split(''), 'sun', 'MON', 'Friday');
const ofWeek = stepsOr(
  7,
  weekday,
  fc.tuple(weekday, between(1, 5)).map(([name, n]) => `${name}#${n}`),
  between(0, 7).map((n) => `${n}L`),
);
const month = stepsOr(12, fc.constantFrom('feb', 'JUN-AUG'));
const list = (each: fc.Arbitrary<string>, most: number) =>
  fc.array(each, { minLength: 1, maxLength: most }).map((tokens) => tokens.join());
const dayFields = (most: number) =>
  fc
    .tuple(list(ofMonth, most), list(month, 2), list(ofWeek, most))
    .map((fields) => fields.join(' '))
    .filter((fields) => cronProblem(`0 0 ${fields}`) === undefined);

/** A year of 365 days and one of 366 for each day of the week on which they may begin. */
const years = [2017, 2018, 2019, 2021, 2022, 2025, 2026, 2000, 2004, 2008, 2012, 2016, 2020, 2024];

test('the days are those that node-cron matches', () => {
  fc.assert(
    fc.property(dayFields(4), fc.constantFrom(...years), (fields, year) => {
      const task = cron.createTask(`0 0 0 ${fields}`, () => {}, { timezone: 'UTC' });
      void task.destroy();
      const all = Array.from({ length: 366 }, (_, i) => new Date(Date.UTC(year, 0, 1) + i * day));
      const daysOf = daysOfCron(cron.parse(`0 0 ${fields}`));
      const found = all.filter((at) => daysOf(at.getUTCFullYear(), at.getUTCMonth() + 1).includes(at.getUTCDate()));
      expect(found.map(String)).toEqual(all.filter((at) => task.match(at)).map(String));
    }),
    { numRuns: isThorough ? 2000 : 60 },
  );
});

const times = (token: string, count: number) => Array(count).fill(token).join();
/** Expressions that were never due, or of many tokens: each took from 0.3 to 1.5 s. */
const costly = [
  `0 0 ${times('LW', 63)} * 0`,
  '0 0 1W * 0#5',
  '0 0 L 2 1#5,2#5,3#5',
  '0 0 29 2 1#5',
  `0 0 LW * ${times('0L', 60)}`,
  `0 0 ${times('1W,31W,LW', 8)} * ${times('0,6', 20)}`,
  `${times('0-59', 12)} ${times('0-59', 12)} ${times('0-23', 12)} LW * 0`,
  `0 0 ${times('*', 80)} * 0#5`,
];

async function costOf(expression: string): Promise<number> {
  expect([expression, cronProblem(expression)]).toEqual([expression, undefined]);
  return timeOf(() => {
    const schedule = scheduleOfCron(expression, 'America/New_York');
    let after: Date | undefined = new Date('2026-11-28T12:00:00Z');
    for (let i = 0; i < 5 && after !== undefined; i++) after = schedule.next(after);
  });
}

test('five times of any expression take little', async () => {
  await costOf('0 9 * * 1-5');
  for (const expression of costly) expect([expression, (await costOf(expression)) <= 50]).toEqual([expression, true]);
  const isLong = (fields: string) => fields.length > 100 && fields.length < 190;
  await fc.assert(
    fc.asyncProperty(dayFields(60).filter(isLong), async (fields) => {
      expect([fields, (await costOf(`0 0 ${fields}`)) <= 50]).toEqual([fields, true]);
    }),
    { numRuns: isThorough ? 2000 : 100 },
  );
});

test('an expression that is too long is refused before node-cron reads it', async () => {
  const long = `0 ${times('*', 300_000)} * * 0`;
  let message: string | undefined;
  expect(await timeOf(() => (message = cronProblem(long)))).toBeLessThan(50);
  expect(message).toMatch(/, which has more than 200 characters$/);
  let issues: unknown;
  const read = () => (issues = RehearsalTrigger.safeParse({ cron: long, timezone: 'UTC' }).error?.issues);
  expect(await timeOf(read)).toBeLessThan(50);
  expect(issues).toMatchObject([{ message: 'must have at most 200 characters' }]);
});
