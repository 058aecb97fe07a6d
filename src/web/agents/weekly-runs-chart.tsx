import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { AgentPerformance } from '../api.ts';
import { axisText, chartMargin, tooltipStyle } from '../display/chart-style.ts';
import { plural } from '../display/formats.ts';

/** Shows the successful and failed runs of an agent, week by week. */
export function WeeklyRunsChart({ weeks }: { weeks: NonNullable<AgentPerformance['weeks']> }) {
  return (
    <>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={180}>
          <BarChart data={weeks} margin={chartMargin} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--borderColor-muted)" vertical={false} />
            <XAxis dataKey="week" tick={axisText} tickFormatter={(week: string) => week.slice(5)} />
            <YAxis allowDecimals={false} tick={axisText} />
            <Tooltip contentStyle={tooltipStyle} cursor={{ fill: 'var(--bgColor-neutral-muted)' }} />
            <Legend />
            <Bar
              name="Succeeded"
              dataKey="succeeded"
              stackId="runs"
              fill="var(--fgColor-success)"
              isAnimationActive={false}
            />
            <Bar name="Failed" dataKey="failed" stackId="runs" fill="var(--fgColor-danger)" isAnimationActive={false} />
          </BarChart>
        </ResponsiveContainer>
      </div>
      <ul className="sr-only">
        {weeks.map(({ week, succeeded, failed }) => (
          <li key={week}>
            Week of {week}: {plural(succeeded, 'run')} succeeded, {failed} failed
          </li>
        ))}
      </ul>
    </>
  );
}
