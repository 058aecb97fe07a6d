import cron from 'node-cron';
import { cronProblem, dayBegan, scheduleOfCron, zoneProblem } from '../../src/automations/times.ts';

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'] as const;
const year = { from: Date.UTC(2027, 0, 1), to: Date.UTC(2028, 0, 1) };

/** Returns all times of an expression in the year. */
function ticksOf(expression: string, zone: string): string[] {
  const schedule = scheduleOfCron(expression, zone);
  const ticks: string[] = [];
  for (let at = new Date(year.from - 1); ; ) {
    const next = schedule.next(at);
    if (next === undefined || next.getTime() >= year.to) return ticks;
    ticks.push(next.toISOString());
    at = next;
  }
}

/** Returns all times that node-cron itself matches: it looks at each minute of the year. */
function matchesOf(expression: string, zone: string): string[] {
  const task = cron.createTask(expression, () => {}, { timezone: zone });
  void task.destroy();
  const found: string[] = [];
  for (let at = year.from; at < year.to; at += 1_800_000)
    if (task.match(new Date(at))) found.push(new Date(at).toISOString());
  return found;
}

test.each(zones)('over a year in %s, the times are those that node-cron matches', (zone) => {
  for (const expression of [
    '0 9 * * 1-5',
    '30 14 L * *',
    '0 0 13 * FRI#2',
    '@monthly',
    '30 12 1,15 */2 *',
    '0 */6 * * *',
  ])
    expect(ticksOf(expression, zone)).toEqual(matchesOf(expression, zone));
});

test.each(zones)('an expression for every hour follows real time in %s', (zone) => {
  expect(ticksOf('0,30 * * * *', zone)).toEqual(matchesOf('0,30 * * * *', zone));
});

test.each(zones)('each day of the year in %s has its time once, also the days on which clocks change', (zone) => {
  for (const expression of ['30 1 * * *', '0 2 * * *', '15 2 * * *', '30 2 * * *', '45 2 * * *', '@daily']) {
    const ticks = ticksOf(expression, zone);
    const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
    expect(new Set(ticks.map((tick) => format.format(new Date(tick)))).size).toBe(365);
    expect(ticks.length).toBe(365);
  }
});

const next = (expression: string, zone: string, after: string) =>
  scheduleOfCron(expression, zone).next(new Date(after))?.toISOString();

test('a time that clocks skip is due when they have been put forward', () => {
  expect(next('30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z')).toBe('2027-03-28T01:00:00.000Z');
  expect(next('30 2 * * *', 'Europe/Berlin', '2027-03-28T01:00:00Z')).toBe('2027-03-29T00:30:00.000Z');
  expect(next('30 2 * * *', 'America/New_York', '2027-03-13T12:00:00Z')).toBe('2027-03-14T07:00:00.000Z');
  // There, clocks change by half an hour.
  expect(next('15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T00:00:00Z')).toBe('2027-10-02T15:30:00.000Z');
  // Several skipped times are one.
  expect(next('*/10 2,3 * * *', 'Europe/Berlin', '2027-03-28T01:00:00Z')).toBe('2027-03-28T01:10:00.000Z');
});

test('a time that comes twice is due the first time', () => {
  expect(next('30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00:00Z')).toBe('2027-10-31T00:30:00.000Z');
  expect(next('30 2 * * *', 'Europe/Berlin', '2027-10-31T00:30:00Z')).toBe('2027-11-01T01:30:00.000Z');
  expect(next('30 1 * * *', 'America/New_York', '2027-11-07T05:30:00Z')).toBe('2027-11-08T06:30:00.000Z');
  expect(next('45 1 * * *', 'Australia/Lord_Howe', '2027-04-03T00:00:00Z')).toBe('2027-04-03T14:45:00.000Z');
  expect(next('45 1 * * *', 'Australia/Lord_Howe', '2027-04-03T14:45:00Z')).toBe('2027-04-04T15:15:00.000Z');
});

test('where clocks change at midnight, the day has its time too', () => {
  expect(next('0 0 * * *', 'America/Havana', '2027-03-13T12:00:00Z')).toBe('2027-03-14T05:00:00.000Z');
  expect(next('30 0 * * *', 'America/Havana', '2027-11-07T04:30:00Z')).toBe('2027-11-08T05:30:00.000Z');
  expect(dayBegan(new Date('2027-03-14T12:00:00Z'), 'America/Havana').toISOString()).toBe('2027-03-14T05:00:00.000Z');
});

test('expressions may have seconds, and may be far away', () => {
  expect(next('*/20 * * * * *', 'UTC', '2027-03-28T01:00:01Z')).toBe('2027-03-28T01:00:20.000Z');
  expect(next('0 0 29 2 1', 'UTC', '2027-01-01T00:00:00Z')).toBe('2044-02-29T00:00:00.000Z');
});

test('what is wrong is named', () => {
  expect(cronProblem('0 9 * * 1-5')).toBeUndefined();
  expect(cronProblem('0 9 * *')).toMatch('which has 4 of these parts');
  expect(cronProblem('0 0 30 2 *')).toMatch('impossible day of month');
  expect(cronProblem('')).toMatch('must be a cron expression');
  expect(zoneProblem('Europe/Berlin')).toBeUndefined();
  for (const zone of ['', 'Europe/Nowhere', '+02:00', 'x\0y']) expect(zoneProblem(zone)).toMatch('IANA');
});

test('a day begins at midnight of the zone', () => {
  expect(dayBegan(new Date('2027-06-01T21:59:00Z'), 'Europe/Berlin').toISOString()).toBe('2027-05-31T22:00:00.000Z');
  expect(dayBegan(new Date('2027-06-01T22:00:00Z'), 'Europe/Berlin').toISOString()).toBe('2027-06-01T22:00:00.000Z');
});

test.each([
  '0-99999999 * * * *',
  '* * * * 1-9007199254740993',
  '*/100 * * * *',
  '0 0 001 * *',
])('a number of more than two digits is refused without counting to it: %s', (expression) => {
  expect(cronProblem(expression)).toMatch(/^must be a cron expression .* has a number of more than two digits$/);
});
