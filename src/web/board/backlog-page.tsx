import { Button } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { FailureLabel, TaskStatus } from '../display/status-labels.tsx';
import { May, useMay, useNewParam } from '../forms/may.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { lazyPart } from '../live/load-part.ts';
import { putTask } from '../live/put-task.ts';
import * as queries from '../live/queries.ts';
import { isOpenSprint } from '../sprints/is-open-sprint.ts';

const NewTaskDialog = lazyPart(async () => ({
  default: (await import('../tasks/editing/new-task-dialog.tsx')).NewTaskDialog,
}));

/** Returns whether nobody has started a task. One whose run failed is ready again. */
const isPlannable = ({ status, runCount }: api.TaskCard) =>
  status === 'backlog' || (status === 'ready' && runCount === 0);

/** Shows the tasks that nobody has started and that are not in a sprint. */
export function BacklogPage() {
  usePageTitle('Backlog');
  const { projectId = '' } = useParams();
  const [searchParams, setSearchParams] = useSearchParams();
  const query = useQuery(queries.tasks(projectId));
  const mayCreate = useMay('member');
  useNewParam(mayCreate);
  return (
    <div className="narrow">
      <PageHeader title="Backlog">
        <May otherwise="Members of the project can create tasks.">
          <Button onClick={() => setSearchParams({ new: 'many' })}>Paste a list</Button>
          <Button variant="primary" onClick={() => setSearchParams({ new: 'one' })}>
            New task
          </Button>
        </May>
      </PageHeader>
      <QueryResult query={query} rows={8}>
        {(allTasks) => {
          const tasks = allTasks.filter((t) => t.sprintId === null && isPlannable(t));
          if (tasks.length > 0) return <BacklogList projectId={projectId} tasks={tasks} />;
          return (
            <EmptyState title="Nothing is left to plan">
              Tasks that nobody has started and that are not in a sprint appear here.
              {mayCreate && ' Create a task to add one.'}
            </EmptyState>
          );
        }}
      </QueryResult>
      <Suspense>
        {mayCreate && searchParams.get('new') !== null && (
          <NewTaskDialog projectId={projectId} onClose={() => setSearchParams({})} />
        )}
      </Suspense>
    </div>
  );
}

const maxShown = 300;

/** Shows the tasks of the backlog, from which people select tasks to add to a sprint. */
function BacklogList({ projectId, tasks }: { projectId: string; tasks: api.TaskCard[] }) {
  const [checked, setChecked] = useState<string[]>([]);
  // Ignores selected tasks that have left the backlog in the meantime.
  const selected = checked.filter((id) => tasks.some((t) => t.id === id));
  const toggle = (id: string) =>
    setChecked((ids) => (ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]));
  return (
    <>
      <May>
        <AddToSprint projectId={projectId} taskIds={selected} onAdded={() => setChecked([])} />
      </May>
      <ul className="list">
        {tasks.slice(0, maxShown).map((task) => (
          <li key={task.id} className="list-item">
            <May>
              <input
                type="checkbox"
                className="plain-check"
                aria-label={`Select ${task.title.slice(0, 60)}`}
                checked={selected.includes(task.id)}
                onChange={() => toggle(task.id)}
              />
            </May>
            <div className="row-text">
              <Link to={`/tasks/${task.id}`} className="wrap">
                <bdi>{task.title}</bdi>
              </Link>
              <TaskStatus status={task.status} />
              <FailureLabel task={task} />
            </div>
          </li>
        ))}
      </ul>
      {tasks.length > maxShown && (
        <p className="muted">
          Showing the newest {maxShown} of {plural(tasks.length, 'task')}.{' '}
          <Link to={`/projects/${projectId}?sprint=none`}>View all on the board</Link>
        </p>
      )}
    </>
  );
}

function AddToSprint({ projectId, taskIds, onAdded }: { projectId: string; taskIds: string[]; onAdded(): void }) {
  const client = useQueryClient();
  const sprints = useQuery(queries.sprints(projectId));
  const [sprintId, setSprintId] = useState('');
  const add = useMutation({
    mutationFn: () => api.addSprintTasks(sprintId, { taskIds }),
    onSuccess: (added) => {
      for (const task of added) putTask(client, task);
      onAdded();
      notify(`${plural(added.length, 'task')} added to the sprint`, 'success');
    },
    onError: notifyError,
  });
  return (
    <div className="row wrap-row page-head bottom-aligned">
      <SelectField
        label="Sprint"
        emptyOption="Select a sprint"
        value={sprintId}
        options={sprints.data?.filter(isOpenSprint)}
        onSelect={setSprintId}
      />
      <Button disabled={sprintId === '' || taskIds.length === 0} loading={add.isPending} onClick={() => add.mutate()}>
        {taskIds.length === 0 ? 'Add to sprint' : `Add ${plural(taskIds.length, 'task')} to sprint`}
      </Button>
    </div>
  );
}
