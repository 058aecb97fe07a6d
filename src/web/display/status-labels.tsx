import { AlertFillIcon } from '@primer/octicons-react';
import { Label } from '@primer/react';
import type { Run, Sprint, Task } from '../api.ts';
import { failureName, sentenceCase, taskStatusNames } from './names.ts';

const taskVariants = {
  backlog: 'secondary',
  ready: 'primary',
  in_progress: 'attention',
  waiting_on_subtasks: 'sponsors',
  in_review: 'done',
  done: 'success',
} as const;

export function TaskStatus({ status }: { status: Task['status'] }) {
  return <Label variant={taskVariants[status]}>{taskStatusNames[status]}</Label>;
}

const runVariants = {
  queued: 'secondary',
  running: 'attention',
  waiting: 'sponsors',
  succeeded: 'success',
  failed: 'danger',
  cancelled: 'secondary',
} as const;

export function RunStatus({ status }: { status: Run['status'] }) {
  return <Label variant={runVariants[status]}>{sentenceCase(status)}</Label>;
}

const sprintVariants = {
  planning: 'secondary',
  active: 'attention',
  completed: 'success',
  cancelled: 'secondary',
} as const;

export function SprintStatus({ status }: { status: Sprint['status'] }) {
  return <Label variant={sprintVariants[status]}>{sentenceCase(status)}</Label>;
}

export function FailureLabel({ task }: { task: Pick<Task, 'failure'> }) {
  if (task.failure === null) return null;
  return (
    <Label variant="danger" title={task.failure.message}>
      <AlertFillIcon size={12} className="label-icon" /> Failed: {failureName(task.failure)}
    </Label>
  );
}
