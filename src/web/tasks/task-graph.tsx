import { ArrowRightIcon } from '@primer/octicons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Task } from '../api.ts';
import { TaskStatus } from '../display/status-labels.tsx';
import * as queries from '../live/queries.ts';

/** Shows from left to right: the task's dependencies, the task with its subtasks, and the tasks that depend on it. */
export function TaskGraph({ task }: { task: Task }) {
  const { data: related = [] } = useQuery(queries.relatedTasks(task));
  const { data: subtasks = [] } = useQuery(queries.subtasks(task.id));
  const dependencies = task.dependsOn.map((id) => related.find((t) => t.id === id)).filter((t) => t !== undefined);
  const dependents = related.filter((t) => t.dependsOn.includes(task.id));
  if (dependencies.length + dependents.length + subtasks.length === 0) return <p className="muted">No dependencies</p>;
  return (
    <div className="graph">
      <Nodes label="Depends on" tasks={dependencies} />
      {dependencies.length > 0 && <ArrowRightIcon className="muted" />}
      <div>
        <Node task={task} isCurrent />
        {subtasks.length > 0 && (
          <ul className="branches" aria-label="Subtasks">
            {subtasks.map((each) => (
              <li key={each.id}>
                <Node task={each} />
              </li>
            ))}
          </ul>
        )}
      </div>
      {dependents.length > 0 && <ArrowRightIcon className="muted" />}
      <Nodes label="Required by" tasks={dependents} />
    </div>
  );
}

type Node = Pick<Task, 'id' | 'title' | 'status'>;

function Nodes({ label, tasks }: { label: string; tasks: Node[] }) {
  if (tasks.length === 0) return null;
  return (
    <ul aria-label={label}>
      {tasks.map((each) => (
        <li key={each.id}>
          <Node task={each} />
        </li>
      ))}
    </ul>
  );
}

function Node({ task, isCurrent = false }: { task: Node; isCurrent?: boolean }) {
  return (
    <div className={`node${isCurrent ? ' current' : ''}`}>
      {isCurrent ? (
        <span className="strong">This task</span>
      ) : (
        <Link to={`/tasks/${task.id}`}>
          <bdi>{task.title}</bdi>
        </Link>
      )}{' '}
      <TaskStatus status={task.status} />
    </div>
  );
}
