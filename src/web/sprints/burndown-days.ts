import type { BurndownPoint, Sprint } from '../api.ts';

/** A day of the chart. Days to come without a forecast have only the ideal line. */
export type ChartDay = Pick<BurndownPoint, 'date' | 'ideal' | 'actual'> & Partial<Pick<BurndownPoint, 'low' | 'high'>>;

const dayMs = 86_400_000;
const dayAfter = (date: string) => new Date(Date.parse(date) + dayMs).toISOString().slice(0, 10);

/**
 * Returns all days of a sprint: those that are known, then those to its last one, on which the ideal line goes on to zero. A sprint
 * of one day begins with all of its tasks, because a chart of one point shows no line.
 */
export function wholeSprint(
  points: BurndownPoint[],
  { startDate, endDate, taskCount }: Pick<Sprint, 'startDate' | 'endDate' | 'taskCount'>,
): ChartDay[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return [];
  const [start, end] = [startDate.slice(0, 10), endDate.slice(0, 10)];
  if (start === end) return [{ date: 'Start', ideal: taskCount, actual: taskCount }, ...points];
  const ahead: ChartDay[] = [];
  // The first day of the line, from which the others follow.
  const length = (Date.parse(end) - Date.parse(start)) / dayMs;
  for (let date = dayAfter(last.date); date <= end; date = dayAfter(date)) {
    const left = (Date.parse(end) - Date.parse(date)) / dayMs;
    ahead.push({ date, ideal: (first.ideal * left) / length, actual: null });
  }
  return [...points, ...ahead];
}
