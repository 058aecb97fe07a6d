import { Button, useConfirm } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../../api.ts';
import { notifyError } from '../../frame/notices.tsx';
import { dropTask } from '../../live/put-task.ts';
import { EditTaskDialog } from '../edit-task-dialog.tsx';
import { actionNames, actionsFor, type TaskAction } from './task-actions.ts';
import { useConfirmedAction } from './use-confirmed-action.tsx';

/** Shows the buttons of a task's page: its actions, edit and delete. */
export function ActionBar({ task }: { task: api.Task }) {
  const { select, isPending, dialog } = useConfirmedAction();
  const [isEditing, setEditing] = useState(false);
  const actions = actionsFor(task);
  const variantOf = (action: TaskAction) => {
    if (action === 'cancel') return 'danger';
    return action === actions[0] ? 'primary' : 'default';
  };
  return (
    <div className="row wrap-row page-head">
      {actions.map((action) => (
        <Button key={action} variant={variantOf(action)} disabled={isPending} onClick={() => void select(task, action)}>
          {actionNames[action]}
        </Button>
      ))}
      {task.owner === null && task.status !== 'done' && (
        <span className="muted">Edit the task to assign an agent, then start it.</span>
      )}
      <span className="grow" />
      <Button onClick={() => setEditing(true)}>Edit</Button>
      <DeleteTask task={task} />
      {isEditing && <EditTaskDialog task={task} onClose={() => setEditing(false)} />}
      {dialog}
    </div>
  );
}

function DeleteTask({ task }: { task: api.Task }) {
  const confirm = useConfirm();
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.deleteTask(task.id),
    onSuccess: async () => {
      await navigate(`/projects/${task.projectId}`);
      dropTask(client, task.projectId, task.id);
    },
    onError: notifyError,
  });
  const confirmAndRemove = async () => {
    const isConfirmed = await confirm({
      title: 'Delete this task?',
      content:
        'The task, its runs and its chat are permanently deleted. Branches and pull requests on GitHub are kept.',
      confirmButtonContent: 'Delete task',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) remove.mutate();
  };
  return (
    <Button variant="danger" onClick={() => void confirmAndRemove()}>
      Delete
    </Button>
  );
}
