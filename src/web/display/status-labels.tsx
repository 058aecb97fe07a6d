import { AlertFillIcon } from '@primer/octicons-react';
import { Avatar, Label } from '@primer/react';
import { useState } from 'react';
import type { Run, Sprint, Task } from '../api.ts';
import { failureName, priorityNames, sentenceCase, taskStatusNames } from './names.ts';

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

const priorityVariants = { urgent: 'severe', high: 'attention', low: 'secondary' } as const;

/** Shows how urgent a task is, unless that is normal. */
export function PriorityLabel({ priority }: Pick<Task, 'priority'>) {
  if (priority === 'normal') return null;
  return (
    <Label variant={priorityVariants[priority]} title={`Priority: ${priorityNames[priority].toLowerCase()}`}>
      {priorityNames[priority]}
    </Label>
  );
}

/** Shows the picture of a person, or their initial if they have none. The text beside it has to name the person. */
export function PersonMark({ login, avatarUrl, size = 24 }: { login: string; avatarUrl: string; size?: number }) {
  const [isBroken, setBroken] = useState(false);
  if (avatarUrl !== '' && !isBroken)
    return <Avatar src={avatarUrl} alt="" size={size} loading="lazy" onError={() => setBroken(true)} />;
  return (
    <span className="user-initial" aria-hidden="true" style={{ width: size, height: size, fontSize: size / 2 }}>
      {login.slice(0, 1)}
    </span>
  );
}
