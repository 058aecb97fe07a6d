import { ArrowRightIcon } from '@primer/octicons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Task } from '../api.ts';
import { TaskStatus } from '../display/status-labels.tsx';
import * as q from '../live/queries.ts';

/** What a task waits for, the task with its subtasks, and what waits for it: from left to right. */
export function TaskGraph({ task }: { task: Task }) {
  const { data: all = [] } = useQuery(q.tasks(task.projectId));
  const { data: subtasks = [] } = useQuery(q.subtasks(task.id));
  const before = task.dependsOn.map((id) => all.find((t) => t.id === id)).filter((t) => t !== undefined);
  const after = all.filter((t) => t.dependsOn.includes(task.id));
  if (before.length + after.length + subtasks.length === 0)
    return <p className="muted">It waits for nothing, and nothing waits for it.</p>;
  return (
    <div className="graph">
      <Nodes name="Waits for" tasks={before} />
      {before.length > 0 && <ArrowRightIcon className="muted" />}
      <div>
        <Node task={task} isHere />
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
      {after.length > 0 && <ArrowRightIcon className="muted" />}
      <Nodes name="Needed by" tasks={after} />
    </div>
  );
}

function Nodes({ name, tasks }: { name: string; tasks: Task[] }) {
  if (tasks.length === 0) return null;
  return (
    <ul aria-label={name}>
      {tasks.map((each) => (
        <li key={each.id}>
          <Node task={each} />
        </li>
      ))}
    </ul>
  );
}

function Node({ task, isHere = false }: { task: Task; isHere?: boolean }) {
  return (
    <div className={`node${isHere ? ' here' : ''}`}>
      {isHere ? (
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
