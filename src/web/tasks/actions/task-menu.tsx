import { KebabHorizontalIcon } from '@primer/octicons-react';
import { ActionList, ActionMenu, IconButton } from '@primer/react';
import { useNavigate } from 'react-router';
import type { Task } from '../../api.ts';
import { actionNames, actionsFor } from './task-actions.ts';
import { useConfirmedAction } from './use-confirmed-action.tsx';

/** Shows the menu of a card on the board, which opens the task or performs one of its actions. */
export function TaskMenu({ task }: { task: Task }) {
  const { select, dialog } = useConfirmedAction();
  const navigate = useNavigate();
  return (
    <>
      <ActionMenu>
        <ActionMenu.Anchor>
          <IconButton
            icon={KebabHorizontalIcon}
            aria-label={`Actions for ${task.title.slice(0, 60)}`}
            variant="invisible"
            size="small"
            tooltipDirection="w"
          />
        </ActionMenu.Anchor>
        <ActionMenu.Overlay align="end">
          <ActionList>
            <ActionList.Item onSelect={() => void navigate(`/tasks/${task.id}`)}>Open</ActionList.Item>
            {actionsFor(task).map((action) => (
              <ActionList.Item key={action} onSelect={() => void select(task, action)}>
                {actionNames[action]}
              </ActionList.Item>
            ))}
          </ActionList>
        </ActionMenu.Overlay>
      </ActionMenu>
      {dialog}
    </>
  );
}
