import { Button } from '@primer/react';
import { type ComponentProps, useState } from 'react';
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

/** Shows a button that opens a dialog for a text. The dialog has the name of the button unless `title` says another. */
export function WordsButton(props: {
  name: string;
  title?: string;
  label: string;
  submit?: string;
  /** Names the draft; by default the page. */
  about?: string;
  taskId: string;
  isDisabled: boolean;
  /** Without the button, only the open dialog is shown. */
  isOffered?: boolean;
  outlivesWaits?: boolean;
  onSubmit(text: string): unknown;
  onDialog?: ((isOpen: boolean) => void) | undefined;
}) {
  const { name, title = name, label, submit = title, about, taskId, isDisabled, isOffered = true, onSubmit } = props;
  const { outlivesWaits = false } = props;
  const [isOpen, setOpen] = useState(false);
  const show = (isShown: boolean) => {
    setOpen(isShown);
    props.onDialog?.(isShown);
  };
  return (
    <>
      {isOffered && (
        <Button disabled={isDisabled} onClick={() => show(true)}>
          {name}
        </Button>
      )}
      {isOpen && (
        <TaskTextDialog
          taskId={taskId}
          outlivesWaits={outlivesWaits}
          title={title}
          label={label}
          submit={submit}
          {...(about === undefined ? {} : { about })}
          isRequired
          onSubmit={onSubmit}
          onClose={() => show(false)}
        />
      )}
    </>
  );
}
