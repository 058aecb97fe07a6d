import { Button, Label, ProgressBar } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import type { Forecast, Sprint, SprintEntry } from '../api.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { EmptyState, Section } from '../display/sections.tsx';
import { SprintStatus } from '../display/status-labels.tsx';
import { Day } from '../display/times.tsx';
import { May, useMay, useNewParam } from '../forms/may.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { knownForecast, verdict } from './forecast-text.ts';
import { isOpenSprint } from './is-open-sprint.ts';
import './sprints.css';
import { SprintFormDialog } from './sprint-form-dialog.tsx';

const VelocityChart = lazyPart(async () => ({ default: (await import('./velocity-chart.tsx')).VelocityChart }));

export function SprintsPage() {
  usePageTitle('Sprints');
  const { projectId = '' } = useParams();
  const navigate = useNavigate();
  const [searchParams, setSearchParams] = useSearchParams();
  const query = useQuery(queries.sprints(projectId));
  const mayCreate = useMay('member');
  useNewParam(mayCreate);
  return (
    <div className="narrow stack">
      <PageHeader title="Sprints">
        <May otherwise="Members of the project can create sprints.">
          <Button variant="primary" onClick={() => setSearchParams({ new: 'one' })}>
            New sprint
          </Button>
        </May>
      </PageHeader>
      <QueryResult query={query}>
        {(sprints) =>
          sprints.length === 0 ? (
            <EmptyState title="No sprints yet">
              {mayCreate ? (
                <p>
                  Create a sprint and add tasks from the backlog, or{' '}
                  <Link to={`/projects/${projectId}/plan`}>plan a goal</Link> to create a sprint with its tasks.
                </p>
              ) : (
                <p>The sprints of the project appear here.</p>
              )}
            </EmptyState>
          ) : (
            <SprintTable sprints={sprints} />
          )
        }
      </QueryResult>
      <Velocity projectId={projectId} />
      {mayCreate && searchParams.get('new') !== null && (
        <SprintFormDialog
          projectId={projectId}
          onSaved={(sprint) => void navigate(`/sprints/${sprint.id}`)}
          onClose={() => setSearchParams({})}
        />
      )}
    </div>
  );
}

/** Beyond this many completed and cancelled sprints, rows show no dates, so that a long history opens quickly. */
const mostDetailed = 40;

function SprintTable({ sprints }: { sprints: SprintEntry[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="table-frame" tabIndex={0} aria-label="Sprints">
      <table className="page-table">
        <thead>
          <tr>
            <th scope="col">Sprint</th>
            <th scope="col">Status</th>
            <th scope="col">Dates</th>
            <th scope="col">Progress</th>
            <th scope="col">Done by (80%)</th>
          </tr>
        </thead>
        <tbody>
          {sprints.map((sprint, i) => (
            <SprintRow key={sprint.id} entry={sprint} isDetailed={i < mostDetailed || isOpenSprint(sprint)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function SprintRow({ entry, isDetailed }: { entry: SprintEntry; isDetailed: boolean }) {
  const { id, name, status, goal } = entry;
  const { data: sprint } = useQuery({ ...queries.sprint(id), enabled: isDetailed });
  const { data: metrics } = useQuery({ ...queries.metrics(id), enabled: isOpenSprint(entry) });
  return (
    <tr>
      <th scope="row" className="wrap">
        <Link to={`/sprints/${id}`}>
          <bdi>{name}</bdi>
        </Link>
        {goal !== '' && goal !== name && <div className="muted small">{goal}</div>}
      </th>
      <td>
        <SprintStatus status={status} />
      </td>
      <td className="sprint-dates">
        {sprint && (
          <>
            <Day date={sprint.startDate} /> – <Day date={sprint.endDate} />
          </>
        )}
      </td>
      <td>{sprint && <Progress sprint={sprint} />}</td>
      <td>{metrics && sprint && <Forecasted forecast={metrics.forecast} endDate={sprint.endDate} />}</td>
    </tr>
  );
}

function Progress({ sprint: { taskCount, completedCount } }: { sprint: Sprint }) {
  if (taskCount === 0) return <span className="muted">No tasks</span>;
  return (
    <div className="sprint-progress">
      <ProgressBar aria-label="Tasks done" progress={(100 * completedCount) / taskCount} />
      <span className="small">
        {completedCount} of {taskCount}
      </span>
    </div>
  );
}

/** Shows when the work is done with a probability of 80 percent, and whether that is after the last day. */
function Forecasted({ forecast, endDate }: { forecast: Forecast; endDate: string }) {
  const known = knownForecast(forecast);
  if (known === undefined)
    return (
      <span className="muted" title={forecast.reason ?? undefined}>
        No forecast yet
      </span>
    );
  const isLate = known.p80.slice(0, 10) > endDate.slice(0, 10);
  return (
    <span title={verdict(known, endDate)}>
      <Day date={known.p80} /> {isLate && <Label variant="attention">Late</Label>}
    </span>
  );
}

function Velocity({ projectId }: { projectId: string }) {
  const { data = [] } = useQuery(queries.velocity(projectId));
  if (data.length === 0) return null;
  return (
    <Section title="Velocity">
      <Suspense fallback={<Loading rows={3} />}>
        <VelocityChart entries={data} />
      </Suspense>
    </Section>
  );
}
