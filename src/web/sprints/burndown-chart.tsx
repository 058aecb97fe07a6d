import { Area, CartesianGrid, ComposedChart, Legend, Line, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { BurndownPoint } from '../api.ts';
import { axisText, chartMargin, tooltipStyle } from '../display/chart-style.ts';

const hasBand = ({ low, high }: BurndownPoint) => low < high;

/**
 * Shows the remaining tasks day by day, against the ideal pace, and the band of the forecast. A table has the same figures
 * for people who cannot see the chart.
 */
export function BurndownChart({ points }: { points: BurndownPoint[] }) {
  const isForecast = points.some((point) => hasBand(point) || point.actual === null);
  // The band begins where the known days end.
  const today = points.findLastIndex(({ actual }) => actual !== null);
  const data = points.map((point, i) => ({ ...point, band: i < today ? null : [point.low, point.high] }));
  return (
    <>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={260}>
          <ComposedChart data={data} margin={chartMargin} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--borderColor-muted)" vertical={false} />
            <XAxis dataKey="date" tick={axisText} tickFormatter={(date: string) => date.slice(5)} minTickGap={24} />
            <YAxis allowDecimals={false} tick={axisText} />
            <Tooltip contentStyle={tooltipStyle} />
            <Legend />
            {isForecast && (
              <Area
                name="Forecast (80%)"
                dataKey="band"
                stroke="none"
                fill="var(--fgColor-accent)"
                fillOpacity={0.2}
                isAnimationActive={false}
              />
            )}
            <Line
              name="Ideal"
              dataKey="ideal"
              stroke="var(--fgColor-muted)"
              strokeDasharray="4 4"
              dot={false}
              isAnimationActive={false}
            />
            <Line
              name="Remaining"
              dataKey="actual"
              stroke="var(--fgColor-accent)"
              strokeWidth={2}
              dot={points.length < 40}
              isAnimationActive={false}
            />
          </ComposedChart>
        </ResponsiveContainer>
      </div>
      <details>
        <summary>View as table</summary>
        <BurndownTable points={points} isForecast={isForecast} />
      </details>
    </>
  );
}

function BurndownTable({ points, isForecast }: { points: BurndownPoint[]; isForecast: boolean }) {
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
        {points.map((point) => (
          <tr key={point.date}>
            <td>{point.date}</td>
            <td>{Math.round(point.ideal * 10) / 10}</td>
            <td>{point.actual ?? '–'}</td>
            {isForecast && <td>{hasBand(point) || point.actual === null ? `${point.low} to ${point.high}` : '–'}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
