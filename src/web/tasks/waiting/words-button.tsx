import { Button } from '@primer/react';
import { useState } from 'react';
import { TaskTextDialog } from './task-text-dialog.tsx';

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
