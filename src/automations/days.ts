/** What a cron expression says of days, as node-cron reads it: numbers, and tokens such as L, 15W, L-3, 1#2 and 5L. */
interface DayFields {
  dayOfMonth: (number | string)[];
  month: number[];
  dayOfWeek: (number | string)[];
}

/** A month as far as it decides which of its days match. A calendar knows 28 of them. */
interface MonthShape {
  /** How many days it has. */
  days: number;
  /** The day of the week of its first day; 0 is a Sunday. */
  first: number;
}

/**
 * Returns a function that lists the days of a month on which an expression has times, in order. Months count from 1. The
 * days are computed once for each length and first weekday of a month, so that looking through 40 years means looking at 480
 * months. node-cron's own `match` takes a second for that, during which the process serves nobody.
 */
export function daysOfCron({ dayOfMonth, month, dayOfWeek }: DayFields): (year: number, month: number) => number[] {
  const [months, ofMonth, ofWeek] = [new Set(month), [...new Set(dayOfMonth)], [...new Set(dayOfWeek)]];
  const known = new Map<string, number[]>();
  return (year, month) => {
    if (!months.has(month)) return [];
    const shape = shapeOf(year, month);
    const key = `${shape.days} ${shape.first}`;
    const found = known.get(key) ?? daysOfShape(shape, ofMonth, ofWeek);
    known.set(key, found);
    return found;
  };
}

function shapeOf(year: number, month: number): MonthShape {
  return {
    days: new Date(Date.UTC(year, month, 0)).getUTCDate(),
    first: new Date(Date.UTC(year, month - 1, 1)).getUTCDay(),
  };
}

/** Unlike Vixie cron, node-cron wants both the day of the month and that of the week to match. */
function daysOfShape(shape: MonthShape, ofMonth: (number | string)[], ofWeek: (number | string)[]): number[] {
  const byDate = new Set(ofMonth.map((token) => dayOfToken(token, shape)));
  const byWeekday = new Set(ofWeek.flatMap((token) => daysOfWeekday(token, shape)));
  const all = Array.from({ length: shape.days }, (_, i) => i + 1);
  return all.filter((day) => byDate.has(day) && byWeekday.has(day));
}

/** Returns the day that 15, L, L-3, 15W or LW is in a month. It may be none that the month has. */
function dayOfToken(token: number | string, shape: MonthShape): number {
  if (typeof token === 'number') return token;
  if (token.startsWith('L-')) return shape.days - Number(token.slice(2));
  const day = token.startsWith('L') ? shape.days : Number.parseInt(token, 10);
  return token.endsWith('W') ? nearestWorkday(day, shape) : day;
}

/** Returns the day from Monday to Friday that is nearest to a day, in the same month. */
function nearestWorkday(day: number, shape: MonthShape): number {
  // 31W is no day of a month of 30 days.
  if (day > shape.days) return day;
  const weekday = (shape.first + day - 1) % 7;
  if (weekday === 6) return day === 1 ? 3 : day - 1;
  if (weekday === 0) return day === shape.days ? day - 2 : day + 1;
  return day;
}

/** Returns the days that a day of the week such as 1, 1#2 or 1L is in a month. */
function daysOfWeekday(token: number | string, { days, first }: MonthShape): number[] {
  const weekday = typeof token === 'number' ? token : Number.parseInt(token, 10);
  const earliest = 1 + ((weekday - first + 7) % 7);
  const all = [0, 7, 14, 21, 28].map((later) => earliest + later).filter((day) => day <= days);
  if (typeof token === 'number') return all;
  return token.endsWith('L') ? all.slice(-1) : all.slice(Number(token.slice(2)) - 1, Number(token.slice(2)));
}
