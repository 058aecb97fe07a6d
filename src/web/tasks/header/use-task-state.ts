import { useQuery } from '@tanstack/react-query';
import type { Task } from '../../api.ts';
import * as queries from '../../live/queries.ts';
import { type TaskState, taskState } from './task-state.ts';

/** Returns what the page says about the state of a task, with what is known about the tasks around it. */
export function useTaskState(task: Task): TaskState {
  const { data: related = [] } = useQuery({ ...queries.relatedTasks(task), enabled: task.dependsOn.length > 0 });
  const { data: subtasks = [] } = useQuery({
    ...queries.subtasks(task.id),
    enabled: task.status === 'waiting_on_subtasks',
  });
  const { data: [newest] = [] } = useQuery({ ...queries.runs(task.id), enabled: task.status === 'in_progress' });
  const isOpen = ({ status }: Pick<Task, 'status'>) => status !== 'done';
  return taskState(task, {
    openDependencies: related.filter(({ id }) => task.dependsOn.includes(id)).filter(isOpen).length,
    subtasks: subtasks.length,
    openSubtasks: subtasks.filter(isOpen).length,
    isQueued: newest?.status === 'queued',
  });
}
