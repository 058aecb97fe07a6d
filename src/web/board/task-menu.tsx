import { ActionList, ActionMenu } from '@primer/react';
import { useNavigate } from 'react-router';
import type { TaskCard } from '../api.ts';
import { actionNames, actionsFor } from '../tasks/actions/task-actions.ts';
import { useConfirmedAction } from '../tasks/use-confirmed-action.tsx';
import type { LazyMenu } from './use-lazy-menu.ts';

/** Shows the menu of a card on the board, which opens the task or performs one of its actions. */
export function TaskMenu({ task, anchorRef, isOpen, onOpenChange }: LazyMenu & { task: TaskCard }) {
  const { select, dialog } = useConfirmedAction();
  const navigate = useNavigate();
  return (
    <>
      <ActionMenu anchorRef={anchorRef} open={isOpen} onOpenChange={onOpenChange}>
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
