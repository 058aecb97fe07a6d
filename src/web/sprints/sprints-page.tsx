import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { EmptyState, Section } from '../display/sections.tsx';
import { SprintStatus } from '../display/status-labels.tsx';
import { May, useMay } from '../forms/may.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { SprintFormDialog } from './sprint-form-dialog.tsx';

const VelocityChart = lazyPart(async () => ({ default: (await import('./velocity-chart.tsx')).VelocityChart }));

export function SprintsPage() {
  usePageTitle('Sprints');
  const { projectId = '' } = useParams();
  const navigate = useNavigate();
  const [searchParams, setSearchParams] = useSearchParams();
  const query = useQuery(queries.sprints(projectId));
  const mayCreate = useMay('member');
  return (
    <div className="narrow">
      <PageHeader title="Sprints">
        <May>
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
            <ul className="list">
              {sprints.map(({ id, name, status, goal }) => (
                <li key={id} className="list-item">
                  <Link to={`/sprints/${id}`} className="strong wrap">
                    <bdi>{name}</bdi>
                  </Link>
                  <SprintStatus status={status} />
                  {goal !== '' && <p className="muted wrap">{goal}</p>}
                </li>
              ))}
            </ul>
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
