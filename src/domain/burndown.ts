const dayMs = 86_400_000;
/** The last time with a four-digit year, which the format of the API requires. */
const latest = Date.parse('9999-12-31T23:59:59.999Z');

export interface BurndownPoint {
  /** A day in UTC, `YYYY-MM-DD`. */
  date: string;
  ideal: number;
  actual: number;
}

/**
 * Adds the ideal line to the actual counts. The line falls evenly from `count` on the first day to 0 on the last day.
 */
export function burndown(
  days: { date: string; actual: number }[],
  { count, startDate, endDate }: { count: number; startDate: string; endDate: string },
): BurndownPoint[] {
  const length = daysBetween(startDate, endDate);
  return days.map(({ date, actual }) => {
    const left = length - daysBetween(startDate, date);
    return { date, ideal: length === 0 ? 0 : (count * left) / length, actual };
  });
}

/** Counts the days from one date to another, both `YYYY-MM-DD`. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / dayMs);
}

interface Progress {
  total: number;
  completed: number;
  lastCompletion: Date | null;
  startDate: string;
  endDate: string;
}

/**
 * Estimates when all tasks will be done, at the average rate since the first day. Returns the last day if nothing is
 * completed, and the time of the last completion if everything is.
 */
export function estimatedCompletion(progress: Progress, now: Date): Date {
  const { total, completed, lastCompletion, startDate, endDate } = progress;
  if (completed === 0) return new Date(endDate);
  if (completed === total) return lastCompletion ?? now;
  const elapsed = Math.max(0, now.getTime() - Date.parse(startDate));
  return new Date(Math.min(now.getTime() + (elapsed * (total - completed)) / completed, latest));
}
