import { CartesianGrid, Legend, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { BurndownPoint } from '../api.ts';
import { axisText, chartMargin, tooltipStyle } from '../display/chart-style.ts';

/**
 * Shows the remaining tasks day by day, against the ideal pace. A table has the same figures for people who cannot see
 * the chart.
 */
export function BurndownChart({ points }: { points: BurndownPoint[] }) {
  return (
    <>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={260}>
          <LineChart data={points} margin={chartMargin} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--borderColor-muted)" vertical={false} />
            <XAxis dataKey="date" tick={axisText} tickFormatter={(date: string) => date.slice(5)} minTickGap={24} />
            <YAxis allowDecimals={false} tick={axisText} />
            <Tooltip contentStyle={tooltipStyle} />
            <Legend />
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
          </LineChart>
        </ResponsiveContainer>
      </div>
      <details>
        <summary>View as table</summary>
        <BurndownTable points={points} />
      </details>
    </>
  );
}

function BurndownTable({ points }: { points: BurndownPoint[] }) {
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Day (UTC)</th>
          <th scope="col">Ideal</th>
          <th scope="col">Remaining</th>
        </tr>
      </thead>
      <tbody>
        {points.map(({ date, ideal, actual }) => (
          <tr key={date}>
            <td>{date}</td>
            <td>{ideal}</td>
            <td>{actual}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
