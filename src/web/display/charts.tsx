import {
  Bar,
  BarChart,
  CartesianGrid,
  Legend,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { AgentPerformance, BurndownPoint, VelocityEntry } from '../api.ts';
import { counted } from './plural.ts';

const height = 260;
const ink = { fill: 'var(--fgColor-muted)', fontSize: 12 };
const paper = {
  background: 'var(--overlay-bgColor)',
  border: '1px solid var(--borderColor-default)',
  color: 'var(--fgColor-default)',
};

/** What is left, day by day, against a steady pace. The figures stand below for whoever cannot see the lines. */
export function Burndown({ points }: { points: BurndownPoint[] }) {
  return (
    <>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={height}>
          <LineChart data={points} margin={{ left: -20, right: 8, top: 8 }} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--borderColor-muted)" vertical={false} />
            <XAxis dataKey="date" tick={ink} tickFormatter={(date: string) => date.slice(5)} minTickGap={24} />
            <YAxis allowDecimals={false} tick={ink} />
            <Tooltip contentStyle={paper} />
            <Legend />
            <Line
              name="steady pace"
              dataKey="ideal"
              stroke="var(--fgColor-muted)"
              strokeDasharray="4 4"
              dot={false}
              isAnimationActive={false}
            />
            <Line
              name="left"
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
        <summary>As a table</summary>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col">Steady pace</th>
              <th scope="col">Left</th>
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
      </details>
    </>
  );
}

/** Tasks done in each of the last sprints. */
export function Velocity({ entries }: { entries: VelocityEntry[] }) {
  return (
    <>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={height}>
          <BarChart data={entries} margin={{ left: -20, right: 8, top: 8 }} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--borderColor-muted)" vertical={false} />
            <XAxis dataKey="name" tick={ink} tickFormatter={(name: string) => name.slice(0, 14)} />
            <YAxis allowDecimals={false} tick={ink} />
            <Tooltip contentStyle={paper} cursor={{ fill: 'var(--bgColor-neutral-muted)' }} />
            <Bar name="tasks done" dataKey="velocity" fill="var(--fgColor-accent)" isAnimationActive={false} />
          </BarChart>
        </ResponsiveContainer>
      </div>
      <ul className="sr-only">
        {entries.map(({ sprintId, name, velocity }) => (
          <li key={sprintId}>
            {name}: {counted(velocity, 'task')} done
          </li>
        ))}
      </ul>
    </>
  );
}

/** The runs of an agent that went well and that failed, week by week. */
export function Weeks({ weeks }: { weeks: NonNullable<AgentPerformance['weeks']> }) {
  return (
    <>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={180}>
          <BarChart data={weeks} margin={{ left: -20, right: 8, top: 8 }} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--borderColor-muted)" vertical={false} />
            <XAxis dataKey="week" tick={ink} tickFormatter={(week: string) => week.slice(5)} />
            <YAxis allowDecimals={false} tick={ink} />
            <Tooltip contentStyle={paper} cursor={{ fill: 'var(--bgColor-neutral-muted)' }} />
            <Legend />
            <Bar
              name="succeeded"
              dataKey="succeeded"
              stackId="runs"
              fill="var(--fgColor-success)"
              isAnimationActive={false}
            />
            <Bar name="failed" dataKey="failed" stackId="runs" fill="var(--fgColor-danger)" isAnimationActive={false} />
          </BarChart>
        </ResponsiveContainer>
      </div>
      <ul className="sr-only">
        {weeks.map(({ week, succeeded, failed }) => (
          <li key={week}>
            week of {week}: {counted(succeeded, 'run')} succeeded, {failed} failed
          </li>
        ))}
      </ul>
    </>
  );
}
