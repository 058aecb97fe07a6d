import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { formatNumber } from '../display/formats.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { FactList, Section } from '../display/sections.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { completionText } from './completion-text.ts';

const WeeklyRunsChart = lazyPart(async () => ({ default: (await import('./weekly-runs-chart.tsx')).WeeklyRunsChart }));

export function Performance({ agentId }: { agentId: string }) {
  const query = useQuery(queries.performance(agentId));
  return (
    <Section title="Performance">
      <QueryResult query={query} rows={2}>
        {({ metrics, weeks = [] }) => (
          <>
            <FactList
              facts={{
                Tasks: metrics.totalTasks,
                Completed: metrics.completedTasks,
                Failed: metrics.failedTasks,
                'Success rate':
                  metrics.completedTasks + metrics.failedTasks === 0
                    ? '–'
                    : `${Math.round(metrics.successRate * 100)}%`,
                'Average completion time': completionText(metrics),
                'Pull requests': metrics.prsCreated,
                'Lines merged': formatNumber(metrics.linesOfCodeWritten),
              }}
            />
            {weeks.some((w) => w.succeeded + w.failed > 0) && (
              <Suspense fallback={<Loading rows={3} />}>
                <WeeklyRunsChart weeks={weeks} />
              </Suspense>
            )}
          </>
        )}
      </QueryResult>
    </Section>
  );
}
