import { PlayIcon } from '@primer/octicons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import * as queries from '../live/queries.ts';
import { actionNames, actionsFor } from '../tasks/actions/task-actions.ts';
import { useConfirmedAction } from '../tasks/actions/use-confirmed-action.tsx';
import { Palette } from './palette.tsx';
import type { Item } from './palette-items.ts';

/** Shows the palette with the actions on the task of the page. Their dialogs stay when the palette is closed. */
export function PaletteOfPage(props: {
  projectId: string | undefined;
  isOpen: boolean;
  showKeys(): void;
  onClose(): void;
}) {
  const { isOpen, ...others } = props;
  const { taskId } = useParams();
  const { data: task } = useQuery(queries.taskOfPage(taskId));
  const { select, dialog } = useConfirmedAction();
  const actions = taskId === undefined || task === undefined ? [] : actionsFor(task);
  const pageItems = actions.map(
    (action): Item => ({
      id: `task action ${action}`,
      kind: 'action',
      text: `${actionNames[action]} (this task)`,
      icon: PlayIcon,
      run: () => task && void select(task, action),
    }),
  );
  return (
    <>
      {isOpen && <Palette {...others} pageItems={pageItems} />}
      {dialog}
    </>
  );
}
