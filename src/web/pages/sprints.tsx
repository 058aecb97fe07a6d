import { Button, Flash, FormControl, Textarea, TextInput } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import * as api from '../api.ts';
import { explain } from '../client.ts';
import { Empty, Loading, Shown } from '../parts/empty.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Section } from '../parts/section.tsx';
import { SprintStatus } from '../parts/status.tsx';
import * as q from '../queries.ts';
import { submitting } from '../submitting.ts';
import { useTitle } from '../use-title.ts';

const Velocity = lazy(async () => ({ default: (await import('../parts/charts.tsx')).Velocity }));

export function SprintsPage() {
  useTitle('Sprints');
  const { projectId = '' } = useParams();
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
      {query.get('new') !== null && <NewSprint projectId={projectId} onClose={() => setQuery({})} />}
    </div>
  );
}

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

function NewSprint({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const client = useQueryClient();
  const go = useNavigate();
  const [given, setGiven] = useState({ name: '', goal: '', startDate: day(0), endDate: day(13) });
  const set = (change: Partial<typeof given>) => setGiven((now) => ({ ...now, ...change }));
  const make = useMutation({
    mutationFn: () => api.postProjectsByProjectIdSprints(projectId, { ...given, name: given.name.trim() }),
    onSuccess: async (sprint) => {
      await client.invalidateQueries({ queryKey: ['sprints', projectId] });
      await go(`/sprints/${sprint.id}`);
    },
  });
  const send = submitting(make);
  return (
    <FormDialog title="New sprint" onClose={onClose} width="large">
      <form className="stack" onSubmit={send}>
        {make.error && <Flash variant="danger">{explain(make.error)}</Flash>}
        <FormControl required>
          <FormControl.Label>Name</FormControl.Label>
          <TextInput block maxLength={200} value={given.name} onChange={(event) => set({ name: event.target.value })} />
        </FormControl>
        <FormControl>
          <FormControl.Label>Goal</FormControl.Label>
          <Textarea block rows={3} value={given.goal} onChange={(event) => set({ goal: event.target.value })} />
        </FormControl>
        <div className="fields">
          <FormControl required>
            <FormControl.Label>First day</FormControl.Label>
            <TextInput
              type="date"
              block
              value={given.startDate}
              onChange={(event) => set({ startDate: event.target.value })}
            />
          </FormControl>
          <FormControl required>
            <FormControl.Label>Last day</FormControl.Label>
            <TextInput
              type="date"
              block
              value={given.endDate}
              onChange={(event) => set({ endDate: event.target.value })}
            />
          </FormControl>
        </div>
        <div className="row end">
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" variant="primary" loading={make.isPending}>
            Make the sprint
          </Button>
        </div>
      </form>
    </FormDialog>
  );
}
