import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { VelocityEntry } from '../api.ts';
import { axisText, chartMargin, tooltipStyle } from '../display/chart-style.ts';
import { plural } from '../display/formats.ts';

/** Shows the completed tasks of each of the latest sprints. */
export function VelocityChart({ entries }: { entries: VelocityEntry[] }) {
  return (
    <>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={260}>
          <BarChart data={entries} margin={chartMargin} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--borderColor-muted)" vertical={false} />
            <XAxis dataKey="name" tick={axisText} tickFormatter={(name: string) => name.slice(0, 14)} />
            <YAxis allowDecimals={false} tick={axisText} />
            <Tooltip contentStyle={tooltipStyle} cursor={{ fill: 'var(--bgColor-neutral-muted)' }} />
            <Bar
              name="Completed tasks"
              dataKey="velocity"
              fill="var(--fgColor-accent)"
              maxBarSize={64}
              isAnimationActive={false}
            />
          </BarChart>
        </ResponsiveContainer>
      </div>
      <ul className="sr-only">
        {entries.map(({ sprintId, name, velocity }) => (
          <li key={sprintId}>
            {name}: {plural(velocity, 'task')} completed
          </li>
        ))}
      </ul>
    </>
  );
}
