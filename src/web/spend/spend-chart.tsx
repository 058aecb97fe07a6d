import { useQuery } from '@tanstack/react-query';
import {
  Bar,
  BarChart,
  CartesianGrid,
  Legend,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { Spend } from '../api.ts';
import { axisText, tooltipStyle } from '../display/chart-style.ts';
import { formatCost, formatNumber } from '../display/formats.ts';
import * as agentQueries from '../live/queries/agents.ts';
import { type ChartDay, chartOf, tokensOf } from './spend-text.ts';

const colors = ['accent', 'success', 'attention', 'done', 'sponsors', 'muted'].map((name) => `var(--fgColor-${name})`);

/** From this share of the budget on, the chart shows it. A budget far above the bars would make them invisible. */
const shownShare = 0.25;

/** Shows the cost of each day by agent, against the budget of a day. A table has the same figures. */
export function SpendChart({ projectId, spend }: { projectId: string; spend: Spend }) {
  const { data: agents = [] } = useQuery(agentQueries.agentsOf(projectId));
  const { series, days } = chartOf(
    spend,
    agents.map(({ id }) => id),
  );
  const { dayCostUsd } = spend.budget;
  const highest = Math.max(...spend.days.map(({ costUsd }) => costUsd)) || 1;
  // Two digits of the distance between ticks, of which there are about four.
  const decimals = Math.max(2, 1 - Math.floor(Math.log10(highest / 4)));
  const isNear = spend.days.some(({ costUsd }) => costUsd >= shownShare * dayCostUsd);
  return (
    <>
      <div aria-hidden="true">
        <ResponsiveContainer width="100%" height={260}>
          <BarChart data={days} margin={{ right: 8, top: 16 }} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--borderColor-muted)" vertical={false} />
            <XAxis dataKey="day" tick={axisText} tickFormatter={(day: string) => day.slice(5)} minTickGap={24} />
            <YAxis tick={axisText} tickFormatter={(usd: number) => `$${usd.toFixed(decimals)}`} width={56} />
            <Tooltip
              contentStyle={tooltipStyle}
              cursor={{ fill: 'var(--bgColor-neutral-muted)' }}
              formatter={(usd) => formatCost(Number(usd))}
            />
            <Legend />
            {series.map(({ name, color }, i) => (
              <Bar
                key={color}
                name={name}
                dataKey={({ costs }: ChartDay) => costs[i]}
                stackId="agents"
                fill={colors[color] ?? ''}
                isAnimationActive={false}
              />
            ))}
            {isNear && (
              <ReferenceLine
                y={dayCostUsd}
                stroke="var(--fgColor-danger)"
                strokeDasharray="4 4"
                ifOverflow="extendDomain"
                label={{
                  value: 'Daily budget',
                  position: 'insideTopLeft',
                  fill: 'var(--fgColor-danger)',
                  fontSize: 12,
                }}
              />
            )}
          </BarChart>
        </ResponsiveContainer>
      </div>
      <details>
        <summary>View as table</summary>
        <DayTable spend={spend} />
      </details>
    </>
  );
}

function DayTable({ spend: { days, budget } }: { spend: Spend }) {
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Day (UTC)</th>
          <th scope="col">Cost</th>
          <th scope="col">Of the budget</th>
          <th scope="col">Tokens</th>
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map((day) => (
          <tr key={day.day}>
            <td>{day.day}</td>
            <td>{formatCost(day.costUsd)}</td>
            <td>{Math.round((100 * day.costUsd) / budget.dayCostUsd)}%</td>
            <td>{formatNumber(tokensOf(day))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
