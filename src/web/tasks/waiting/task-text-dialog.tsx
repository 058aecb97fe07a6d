import type { ComponentProps } from 'react';
import { TextDialog } from '../../forms/text-dialog.tsx';
import { useOvertaken } from '../timeline/overtaken.ts';

/** Shows a dialog with a text about a task, which says so when somebody else decides first. */
export function TaskTextDialog(
  props: ComponentProps<typeof TextDialog> & {
    taskId: string;
    /** The text can be sent as long as the status of the task stays, whatever its run waits for. */
    outlivesWaits?: boolean;
  },
) {
  const { taskId, outlivesWaits, ...others } = props;
  return <TextDialog {...others} overtaken={useOvertaken(taskId, outlivesWaits)} />;
}
