import { ProgressBar } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import type { Sprint } from '../api.ts';
import { Loading } from '../display/query-result.tsx';
import { FactList } from '../display/sections.tsx';
import { Day } from '../display/times.tsx';
import * as queries from '../live/queries.ts';

export function SprintProgress({ sprint }: { sprint: Sprint }) {
  const { data: metrics } = useQuery(queries.metrics(sprint.id));
  if (metrics === undefined) return <Loading rows={1} />;
  const { totalTasks, completedTasks, completionPercentage } = metrics;
  return (
    <section className="box page-head" aria-label="Progress">
      <ProgressBar progress={completionPercentage} aria-label={`${completionPercentage}% done`} />
      <FactList
        facts={{
          Done: `${completedTasks} of ${totalTasks} (${completionPercentage}%)`,
          'In progress or review': metrics.inProgressTasks,
          'Not started': metrics.remainingTasks - metrics.inProgressTasks,
          // A forecast is shown below, and is better than the estimate.
          ...(metrics.forecast.p50 === null && {
            [sprint.status === 'active' ? 'Estimated end' : 'End']: <Day date={metrics.estimatedCompletion} />,
          }),
        }}
      />
    </section>
  );
}
