import { XIcon } from '@primer/octicons-react';
import { IconButton } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'react-router';
import * as api from '../api.ts';
import { EmptyState } from '../display/empty-state.tsx';
import { plural } from '../display/plural.ts';
import { QueryResult } from '../display/query-result.tsx';
import { FailureLabel, TaskStatus } from '../display/status-labels.tsx';
import { mutateOnce } from '../forms/submit-once.ts';
import { notifyError } from '../frame/notices.tsx';
import { putTask } from '../live/put-task.ts';
import * as queries from '../live/queries.ts';

export function SprintTasks({ sprint }: { sprint: api.Sprint }) {
  const query = useQuery(queries.tasks(sprint.projectId));
  return (
    <QueryResult query={query}>
      {(allTasks) => {
        const tasks = allTasks.filter((t) => t.sprintId === sprint.id).reverse();
        if (tasks.length === 0)
          return (
            <EmptyState title="This sprint has no tasks">
              <p>
                Add tasks from the <Link to={`/projects/${sprint.projectId}/backlog`}>backlog</Link>.
              </p>
            </EmptyState>
          );
        return (
          <ul className="list">
            {tasks.map((task) => (
              <SprintTask key={task.id} sprint={sprint} task={task} />
            ))}
          </ul>
        );
      }}
    </QueryResult>
  );
}

function SprintTask({ sprint, task }: { sprint: api.Sprint; task: api.Task }) {
  const isOpen = sprint.status === 'planning' || sprint.status === 'active';
  return (
    <li className="list-item">
      <Link to={`/tasks/${task.id}`} className="wrap">
        <bdi>{task.title}</bdi>
      </Link>
      <TaskStatus status={task.status} />
      <FailureLabel task={task} />
      {task.dependsOn.length > 0 && <span className="muted">Depends on {plural(task.dependsOn.length, 'task')}</span>}
      <span className="grow" />
      {isOpen && task.parentId === null && <RemoveFromSprint sprintId={sprint.id} task={task} />}
    </li>
  );
}

/** Moves a task back to the backlog. Its run, if any, continues. */
function RemoveFromSprint({ sprintId, task }: { sprintId: string; task: api.Task }) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.removeSprintTask(sprintId, task.id),
    onSuccess: async () => putTask(client, await api.getTask(task.id)),
    onError: notifyError,
  });
  return (
    <IconButton
      icon={XIcon}
      size="small"
      variant="invisible"
      aria-label={`Remove ${task.title.slice(0, 60)} from the sprint`}
      loading={remove.isPending}
      onClick={() => mutateOnce(remove)}
    />
  );
}
