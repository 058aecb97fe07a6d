import './sprints.css';
import { Heading, ProgressBar } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { useParams, useSearchParams } from 'react-router';
import type { Sprint } from '../api.ts';
import { formatCost } from '../display/formats.ts';
import { Markdown } from '../display/markdown.tsx';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { EmptyState, FactList } from '../display/sections.tsx';
import { SprintStatus } from '../display/status-labels.tsx';
import { Day } from '../display/times.tsx';
import { May } from '../forms/may.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { Tabs } from '../frame/tabs.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { isOpenSprint } from './is-open-sprint.ts';
import { SprintActions } from './sprint-actions.tsx';
import { SprintForecast } from './sprint-forecast.tsx';
import { SprintTasks } from './sprint-tasks.tsx';

const BurndownChart = lazyPart(async () => ({ default: (await import('./burndown-chart.tsx')).BurndownChart }));
const Chat = lazyPart(async () => ({ default: (await import('../chat/chat.tsx')).Chat }));

export function SprintPage() {
  const { sprintId = '' } = useParams();
  const query = useQuery(queries.sprint(sprintId));
  usePageTitle(query.data?.name, 'Sprint');
  return (
    <div className="narrow">
      <QueryResult query={query} isPage>
        {(sprint) => <SprintView key={sprint.id} sprint={sprint} />}
      </QueryResult>
    </div>
  );
}

function SprintView({ sprint }: { sprint: Sprint }) {
  const [searchParams] = useSearchParams();
  const isCompleted = sprint.status === 'completed';
  const tabs = { tasks: 'Tasks', chart: 'Burndown', chat: 'Chat', ...(isCompleted ? { digest: 'Digest' } : {}) };
  return (
    <>
      <div className="row wrap-row">
        <Heading as="h1" variant="medium" className="wrap">
          <bdi>{sprint.name}</bdi>
        </Heading>
        <span className="grow" />
        <May>
          <SprintActions sprint={sprint} />
        </May>
      </div>
      <div className="row wrap-row page-head sprint-facts muted">
        <SprintStatus status={sprint.status} />
        <span>
          <Day date={sprint.startDate} /> – <Day date={sprint.endDate} />
        </span>
      </div>
      {sprint.goal !== '' && sprint.goal !== sprint.name && <p className="wrap">{sprint.goal}</p>}
      <SprintProgress sprint={sprint} />
      {isOpenSprint(sprint) && <SprintForecast sprint={sprint} />}
      <Tabs tabs={tabs} label="Sprint" />
      <Suspense fallback={<Loading />}>
        <TabContent tab={searchParams.get('tab')} sprint={sprint} />
      </Suspense>
    </>
  );
}

function TabContent({ tab, sprint }: { tab: string | null; sprint: Sprint }) {
  switch (tab) {
    case 'chart':
      return <BurndownTab sprint={sprint} />;
    case 'chat':
      return (
        <Chat
          subject={{ kind: 'sprint', id: sprint.id }}
          emptyText="Ask the Software Architect about this sprint: what is late, why a task failed, or what to do next."
        />
      );
    case 'digest':
      return <SprintDigest sprintId={sprint.id} />;
    default:
      return <SprintTasks sprint={sprint} />;
  }
}

function BurndownTab({ sprint }: { sprint: Sprint }) {
  const query = useQuery(queries.burndown(sprint.id));
  return (
    <QueryResult query={query}>
      {(points) =>
        points.length === 0 ? (
          <EmptyState title="No burndown yet">The burndown starts on the first day of the sprint.</EmptyState>
        ) : (
          <section className="box" aria-label="Burndown">
            <BurndownChart points={points} sprint={sprint} />
          </section>
        )
      }
    </QueryResult>
  );
}

/** Shows the summary written when a sprint is completed. */
function SprintDigest({ sprintId }: { sprintId: string }) {
  const query = useQuery(queries.digest(sprintId));
  return (
    <QueryResult query={query}>
      {({ markdown, completed, carriedOver, failed, costUsd }) => (
        <section className="box" aria-label="Digest">
          <p className="muted">
            {completed.length} done · {carriedOver.length} carried over · {failed.length} failed · {formatCost(costUsd)}
          </p>
          <Markdown text={markdown} />
        </section>
      )}
    </QueryResult>
  );
}

function SprintProgress({ sprint }: { sprint: Sprint }) {
  const query = useQuery(queries.metrics(sprint.id));
  return (
    <QueryResult query={query} rows={1}>
      {({ totalTasks, completedTasks, completionPercentage, ...metrics }) => (
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
      )}
    </QueryResult>
  );
}
