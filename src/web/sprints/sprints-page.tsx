import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import { Empty, Loading, Shown } from '../display/query-result.tsx';
import { Section } from '../display/section.tsx';
import { SprintStatus } from '../display/status-labels.tsx';
import { PageHead } from '../frame/page-header.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { SprintForm } from './sprint-form-dialog.tsx';

const Velocity = lazy(async () => ({ default: (await import('../display/charts.tsx')).Velocity }));

export function SprintsPage() {
  useTitle('Sprints');
  const { projectId = '' } = useParams();
  const go = useNavigate();
  const [query, setQuery] = useSearchParams();
  const asked = useQuery(q.sprints(projectId));
  const velocity = useQuery(q.velocity(projectId));
  return (
    <div className="narrow">
      <PageHead title="Sprints">
        <Button variant="primary" onClick={() => setQuery({ new: 'one' })}>
          New sprint
        </Button>
      </PageHead>
      <Shown of={asked}>
        {(sprints) =>
          sprints.length === 0 ? (
            <Empty title="No sprint yet">
              Make one and put tasks into it, or <Link to={`/projects/${projectId}/plan`}>plan a goal</Link>: that makes
              the sprint with its tasks.
            </Empty>
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
      </Shown>
      {velocity.data && velocity.data.length > 0 && (
        <Section title="Velocity">
          <Suspense fallback={<Loading rows={3} />}>
            <Velocity entries={velocity.data} />
          </Suspense>
        </Section>
      )}
      {query.get('new') !== null && (
        <SprintForm
          projectId={projectId}
          onSaved={(sprint) => void go(`/sprints/${sprint.id}`)}
          onClose={() => setQuery({})}
        />
      )}
    </div>
  );
}
