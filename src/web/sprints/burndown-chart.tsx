import { Area, CartesianGrid, ComposedChart, Legend, Line, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { BurndownPoint, Sprint } from '../api.ts';
import { axisText, chartMargin, tooltipStyle } from '../display/chart-style.ts';
import { type ChartDay, wholeSprint } from './burndown-days.ts';

const hasBand = ({ low = 0, high = 0 }: ChartDay) => low < high;
const isAhead = ({ actual, low }: ChartDay) => actual === null && low !== undefined;

/** Formats a day as `Nov 28`; the beginning of a sprint of one day stays as it is. */
function dayLabel(date: string): string {
  if (!/^\d/.test(date)) return date;
  return new Date(`${date}T00:00:00Z`).toLocaleDateString(undefined, {
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  });
}

/**
 * Shows the remaining tasks on all days of a sprint, against the ideal pace, and the band of the forecast. A table has the same
 * figures for people who cannot see the chart.
 */
export function BurndownChart({ points, sprint }: { points: BurndownPoint[]; sprint: Sprint }) {
  const days = wholeSprint(points, sprint);
  const isForecast = days.some((day) => hasBand(day) || isAhead(day));
  // The band begins where the known days end.
  const today = days.findLastIndex(({ actual }) => actual !== null);
  const data = days.map((day, i) => ({
    ...day,
    band: i < today || day.low === undefined ? null : [day.low, day.high],
  }));
  return (
    <>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={260}>
          <ComposedChart data={data} margin={chartMargin} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--borderColor-muted)" vertical={false} />
            <XAxis dataKey="date" tick={axisText} tickFormatter={dayLabel} minTickGap={24} />
            <YAxis allowDecimals={false} tick={axisText} />
            <Tooltip contentStyle={tooltipStyle} />
            <Legend />
            {isForecast && (
              <Area
                name="Forecast (80%)"
                dataKey="band"
                stroke="none"
                fill="var(--fgColor-done)"
                fillOpacity={0.25}
                isAnimationActive={false}
              />
            )}
            <Line
              name="Ideal"
              dataKey="ideal"
              stroke="var(--fgColor-muted)"
              strokeWidth={2}
              strokeDasharray="6 4"
              dot={false}
              isAnimationActive={false}
            />
            <Line
              name="Remaining"
              dataKey="actual"
              stroke="var(--fgColor-accent)"
              strokeWidth={2}
              dot={days.length < 40}
              isAnimationActive={false}
            />
          </ComposedChart>
        </ResponsiveContainer>
      </div>
      <details>
        <summary>View as table</summary>
        <BurndownTable days={days} isForecast={isForecast} />
      </details>
    </>
  );
}

function BurndownTable({ days, isForecast }: { days: ChartDay[]; isForecast: boolean }) {
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Day (UTC)</th>
          <th scope="col">Ideal</th>
          <th scope="col">Remaining</th>
          {isForecast && <th scope="col">Forecast (80%)</th>}
        </tr>
      </thead>
      <tbody>
        {days.map((point) => (
          <tr key={point.date}>
            <td>{point.date}</td>
            <td>{Math.round(point.ideal * 10) / 10}</td>
            <td>{point.actual ?? '–'}</td>
            {isForecast && <td>{hasBand(point) || isAhead(point) ? `${point.low} to ${point.high}` : '–'}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
