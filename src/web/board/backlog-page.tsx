import { Button } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import * as api from '../api.ts';
import { counted } from '../display/plural.ts';
import { Empty, Shown } from '../display/query-result.tsx';
import { Failed, TaskStatus } from '../display/status-labels.tsx';
import { Chosen } from '../forms/select-field.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-header.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import { putTask } from '../live/project-events.ts';
import * as q from '../live/queries.ts';

const NewTask = lazy(async () => ({ default: (await import('../tasks/new-task-dialog.tsx')).NewTask }));

const mostShown = 300;

/** The tasks in no sprint, to be put into one. */
export function BacklogPage() {
  useTitle('Backlog');
  const { projectId = '' } = useParams();
  const [query, setQuery] = useSearchParams();
  const asked = useQuery(q.tasks(projectId));
  return (
    <div className="narrow">
      <PageHead title="Backlog">
        <Button onClick={() => setQuery({ new: 'many' })}>Paste a list</Button>
        <Button variant="primary" onClick={() => setQuery({ new: 'one' })}>
          New task
        </Button>
      </PageHead>
      <Shown of={asked} rows={8}>
        {(tasks) => <List tasks={tasks.filter((t) => t.sprintId === null && t.status !== 'done')} />}
      </Shown>
      <Suspense>{query.get('new') !== null && <NewTask projectId={projectId} onClose={() => setQuery({})} />}</Suspense>
    </div>
  );
}

function List({ tasks }: { tasks: api.Task[] }) {
  const { projectId = '' } = useParams();
  const client = useQueryClient();
  const sprints = useQuery(q.sprints(projectId));
  const [ticked, setChosen] = useState<string[]>([]);
  // What has left the list meanwhile is not meant any more.
  const chosen = ticked.filter((id) => tasks.some((t) => t.id === id));
  const [sprintId, setSprint] = useState('');
  const add = useMutation({
    mutationFn: () => api.postSprintsBySprintIdTasksBulk(sprintId, { taskIds: chosen }),
    onSuccess: (added) => {
      for (const task of added) putTask(client, task);
      setChosen([]);
      notify(`${counted(added.length, 'task')} put in the sprint.`, 'success');
    },
    onError: notifyError,
  });
  if (tasks.length === 0) return <Empty title="Nothing waits">Every open task is in a sprint, or there is none.</Empty>;
  const toggle = (id: string) =>
    setChosen((now) => (now.includes(id) ? now.filter((each) => each !== id) : [...now, id]));
  return (
    <>
      <div className="row wrap-row page-head bottom-aligned">
        <Chosen
          label="Put the chosen ones into"
          none="Choose a sprint"
          value={sprintId}
          options={sprints.data?.filter((s) => s.status === 'planning' || s.status === 'active')}
          onChosen={setSprint}
        />
        <Button disabled={sprintId === '' || chosen.length === 0} loading={add.isPending} onClick={() => add.mutate()}>
          Put {counted(chosen.length, 'task')} there
        </Button>
      </div>
      <ul className="list">
        {tasks.slice(0, mostShown).map((task) => (
          <li key={task.id} className="list-item">
            <input
              type="checkbox"
              aria-label={`Choose ${task.title.slice(0, 60)}`}
              checked={chosen.includes(task.id)}
              onChange={() => toggle(task.id)}
            />
            <Link to={`/tasks/${task.id}`} className="wrap">
              <bdi>{task.title}</bdi>
            </Link>
            <TaskStatus status={task.status} />
            <Failed task={task} />
          </li>
        ))}
      </ul>
      {tasks.length > mostShown && (
        <p className="muted">
          The newest {mostShown} of {tasks.length};{' '}
          <Link to={`/projects/${projectId}?sprint=none`}>all on the board</Link>.
        </p>
      )}
    </>
  );
}
