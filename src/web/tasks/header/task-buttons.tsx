import { KebabHorizontalIcon } from '@primer/octicons-react';
import { ActionList, ActionMenu, Button, IconButton } from '@primer/react';
import { useState } from 'react';
import type { Task } from '../../api.ts';
import { actionNames } from '../actions/task-actions.ts';
import { useConfirmedAction } from '../actions/use-confirmed-action.tsx';
import { EditTaskDialog } from '../edit-task-dialog.tsx';
import { AssignAgent } from './assign-agent.tsx';
import type { TaskState } from './task-state.ts';
import { useDeleteTask } from './use-delete-task.ts';

/** Shows the buttons of a task's page: the one for what comes next, others that fit, and a menu with the rest. */
export function TaskButtons({ task, state }: { task: Task; state: TaskState }) {
  const { select, isPending, dialog } = useConfirmedAction();
  const [isEditing, setEditing] = useState(false);
  const remove = useDeleteTask(task);
  const { primary, others, rare } = state;
  return (
    <div className="row wrap-row">
      {primary === 'assign' && <AssignAgent task={task} />}
      {primary !== null && primary !== 'assign' && (
        <Button variant="primary" disabled={isPending} onClick={() => void select(task, primary)}>
          {actionNames[primary]}
        </Button>
      )}
      {others.map((action) => (
        <Button
          key={action}
          variant={action === 'cancel' ? 'danger' : 'default'}
          disabled={isPending}
          onClick={() => void select(task, action)}
        >
          {actionNames[action]}
        </Button>
      ))}
      <Button onClick={() => setEditing(true)}>Edit</Button>
      <ActionMenu>
        <ActionMenu.Anchor>
          <IconButton icon={KebabHorizontalIcon} aria-label="More actions" tooltipDirection="w" />
        </ActionMenu.Anchor>
        <ActionMenu.Overlay align="end">
          <ActionList>
            {rare.map((action) => (
              <ActionList.Item key={action} disabled={isPending} onSelect={() => void select(task, action)}>
                {actionNames[action]}
              </ActionList.Item>
            ))}
            {rare.length > 0 && <ActionList.Divider />}
            <ActionList.Item variant="danger" onSelect={() => void remove()}>
              Delete task
            </ActionList.Item>
          </ActionList>
        </ActionMenu.Overlay>
      </ActionMenu>
      {isEditing && <EditTaskDialog task={task} onClose={() => setEditing(false)} />}
      {dialog}
    </div>
  );
}
