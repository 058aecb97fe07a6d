import cron from 'node-cron';
import { daysOfCron } from './days.ts';

/** When a cron expression is due in a time zone. */
export interface Schedule {
  /** Returns the first time after `after`; undefined if there is none up to `to`, or within 40 years. */
  next(after: Date, to?: Date): Date | undefined;
}

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
/** 29 February on a certain day of the week may be 40 years away. */
const maxDays = 366 * 40;
/** The longest expression. node-cron takes seconds for one of half a megabyte before it says that it is wrong. */
export const maxCronLength = 200;

/** Returns what is wrong with a cron expression, as the predicate of a sentence; undefined if it is fine. */
export function cronProblem(expression: string): string | undefined {
  const why = problemWith(expression);
  if (why === undefined) return undefined;
  return `must be a cron expression such as "0 9 * * 1-5" (minute, hour, day of the month, month, day of the week), not ${shown(expression)}${why}`;
}

function problemWith(expression: string): string | undefined {
  if (expression.length > maxCronLength) return `, which has more than ${maxCronLength} characters`;
  // node-cron writes out a range such as 0-99999999 before it looks at the limits of its field.
  if (/\d{3}/.test(expression)) return ', which has a number of more than two digits';
  const found = cron.validateDetailed(expression);
  if (found.valid) return undefined;
  const count = expression.trim().split(/\s+/).length;
  const isWhole = count === 5 || count === 6;
  // node-cron says "99 is a invalid expression for minute".
  return isWhole
    ? `: ${found.errors[0]?.message.replace('is a invalid expression for', 'is not valid for the')}`
    : `, which has ${count} of these parts`;
}

/** Returns a text that somebody sent, for an error. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}

/** Returns what is wrong with a time zone, as the predicate of a sentence; undefined if it is fine. */
export function zoneProblem(zone: string): string | undefined {
  try {
    // Node also takes offsets such as +02:00, which know no summer time.
    if (/^[a-z]/i.test(zone) && new Intl.DateTimeFormat('en', { timeZone: zone })) return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return `must be a time zone of the IANA list such as Europe/Berlin or UTC, not ${shown(zone)}`;
}

/**
 * Reads a cron expression, which `cronProblem` and `zoneProblem` accept. node-cron parses it, but does not find the times:
 * it has no function for the next one after a moment, it takes long where there is none, and where clocks change it leaves out
 * times that do not exist and a whole hour that comes twice. Here, as in Vixie cron:
 * - A time that clocks skip is due when they have been put forward, so that nothing is missed.
 * - A time that comes twice is due the first time.
 * - Expressions for every hour follow real time: they are due in both hours, and not in the one that is skipped.
 */
export function scheduleOfCron(expression: string, zone: string): Schedule {
  const fields = cron.parse(expression);
  const daysOf = daysOfCron(fields);
  const clock = clockOf(zone);
  const changeOn = remembered((date) => changeAround(date, clock));
  const times = { hours: sorted(fields.hour), minutes: sorted(fields.minute), seconds: sorted(fields.second) };
  return {
    next: (after, to) => {
      const from = Math.floor(after.getTime() / second) * second;
      // Where clocks are put back at midnight, the day before may go on later.
      const first = startOfDay(clock.local(from)) - day;
      const last = to === undefined ? first + maxDays * day : clock.local(to.getTime());
      for (const date of datesBetween(first, last, daysOf)) {
        const found = firstOnDay(date, times, changeOn(date), from);
        if (found !== undefined) return to !== undefined && found > to.getTime() ? undefined : new Date(found);
      }
      return undefined;
    },
  };
}

/** Yields the dates of a schedule, each as its midnight in UTC. */
function* datesBetween(first: number, last: number, daysOf: ReturnType<typeof daysOfCron>): Generator<number> {
  const begin = new Date(first);
  const year = begin.getUTCFullYear();
  for (let month = begin.getUTCMonth(); Date.UTC(year, month, 1) <= last; month++) {
    const at = new Date(Date.UTC(year, month, 1));
    for (const date of daysOf(at.getUTCFullYear(), at.getUTCMonth() + 1).map((each) => at.getTime() + (each - 1) * day))
      if (date >= first && date <= last) yield date;
  }
}

/** Local times are numbers, too: the milliseconds of the same date and time in UTC. */
interface Clock {
  local(instant: number): number;
  /** How much local time is ahead of UTC. */
  ahead(instant: number): number;
}

function clockOf(zone: string): Clock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  const read = (instant: number) => {
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  };
  // Clocks change at whole quarters of an hour.
  const aheadIn = remembered((quarter) => read(quarter) - quarter);
  const ahead = (instant: number) => aheadIn(Math.floor(instant / (15 * minute)) * 15 * minute);
  return { local: (instant) => instant + ahead(instant), ahead };
}

interface Times {
  hours: number[];
  minutes: number[];
  seconds: number[];
}

/** Returns the first time of a date after `from`; undefined if there is none. */
function firstOnDay(date: number, times: Times, change: Change, from: number): number | undefined {
  if (change.before !== change.after && times.hours.length === 24) return firstInRealTime(date, times, change, from);
  for (const local of timesOf(times, date, overAt(from, change))) {
    const instant = instantOn(local, change);
    if (instant > from) return instant;
  }
  return undefined;
}

/** Yields the local times of a date that are later than `over`. Whole hours and minutes before it are skipped at once. */
function* timesOf({ hours, minutes, seconds }: Times, date: number, over: number): Generator<number> {
  for (const atHour of hours.map((h) => date + h * hour).filter((at) => at + hour > over))
    for (const atMinute of minutes.map((m) => atHour + m * minute).filter((at) => at + minute > over))
      yield* seconds.map((s) => atMinute + s * second).filter((at) => at > over);
}

/** How much local time is ahead of UTC before and after a change, and the moment of the change. */
interface Change {
  before: number;
  after: number;
  at: number;
}

/** Remembers what a function said of the last moments: Intl takes a hundred times as long as the rest. */
function remembered<T extends {}>(ask: (at: number) => T): (at: number) => T {
  const known = new Map<number, T>();
  return (at) => {
    const value = known.get(at) ?? ask(at);
    if (known.size > 100) known.clear();
    known.set(at, value);
    return value;
  };
}

/** Returns how clocks change around a date, which is at most once. Without a change, both offsets are the same. */
function changeAround(date: number, clock: Clock): Change {
  const [early, late] = [date - day, date + 2 * day];
  const [before, after] = [clock.ahead(early), clock.ahead(late)];
  return { before, after, at: before === after ? late : changeBetween(early, late, clock) };
}

/** Returns when a local time is: the first time if it comes twice, and the moment of the change if clocks skip it. */
function instantOn(local: number, { before, after, at }: Change): number {
  return local < at + before ? local - before : Math.max(at, local - after);
}

/** Returns the last local time that is over at an instant, with those that come a second time. */
function overAt(instant: number, { before, after, at }: Change): number {
  return instant < at ? instant + before : Math.max(at + before - 1, instant + after);
}

/** Returns the moment between two instants from which on clocks show another offset. */
function changeBetween(early: number, late: number, clock: Clock): number {
  let [low, high] = [early, late];
  const before = clock.ahead(low);
  while (high - low > second) {
    const middle = Math.floor((low + high) / 2 / second) * second;
    if (clock.ahead(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the first instant after `from` that shows a matching minute and second on a date on which clocks change. */
function firstInRealTime(
  date: number,
  { minutes, seconds }: Times,
  { before, after, at: changed }: Change,
  from: number,
): number | undefined {
  const begin = Math.max(date - Math.max(before, after), Math.floor(from / minute) * minute);
  const end = date + day - Math.min(before, after);
  for (let at = begin; at < end; at += minute) {
    const local = at + (at < changed ? before : after);
    if (startOfDay(local) !== date || !minutes.includes(new Date(local).getUTCMinutes())) continue;
    for (const s of seconds) if (at + s * second > from) return at + s * second;
  }
  return undefined;
}

function startOfDay(local: number): number {
  return Math.floor(local / day) * day;
}

/** Returns each of the numbers once, in order: 0-59,0-59,… is a list of thousands. */
function sorted(values: number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

/** Returns a function that names the day of a moment in a time zone. */
export function dayIn(zone: string): (at: Date) => number {
  const clock = clockOf(zone);
  return (at) => startOfDay(clock.local(at.getTime()));
}

/** Returns when the day of a moment began in a time zone. */
export function dayBegan(now: Date, zone: string): Date {
  const clock = clockOf(zone);
  const local = startOfDay(clock.local(now.getTime()));
  return new Date(instantOn(local, changeAround(local, clock)));
}
