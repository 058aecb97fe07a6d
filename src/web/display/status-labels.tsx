import { AlertFillIcon } from '@primer/octicons-react';
import { Label } from '@primer/react';
import type { Run, Sprint, Task } from '../api.ts';
import { statusNames } from '../tasks/actions/task-actions.ts';

const taskVariants = {
  backlog: 'secondary',
  ready: 'primary',
  in_progress: 'attention',
  waiting_on_subtasks: 'sponsors',
  in_review: 'done',
  done: 'success',
} as const;

export function TaskStatus({ status }: { status: Task['status'] }) {
  return <Label variant={taskVariants[status]}>{statusNames[status]}</Label>;
}

const runVariants = {
  queued: 'secondary',
  running: 'attention',
  succeeded: 'success',
  failed: 'danger',
  cancelled: 'secondary',
} as const;

export function RunStatus({ status }: { status: Run['status'] }) {
  return <Label variant={runVariants[status]}>{status}</Label>;
}

const sprintVariants = {
  planning: 'secondary',
  active: 'attention',
  completed: 'success',
  cancelled: 'secondary',
} as const;

export function SprintStatus({ status }: { status: Sprint['status'] }) {
  return <Label variant={sprintVariants[status]}>{status}</Label>;
}

export function Failed({ task }: { task: Pick<Task, 'failure'> }) {
  if (task.failure === null) return null;
  return (
    <Label variant="danger" title={task.failure.message}>
      <AlertFillIcon size={12} /> failed: {task.failure.category.replaceAll('_', ' ')}
    </Label>
  );
}
