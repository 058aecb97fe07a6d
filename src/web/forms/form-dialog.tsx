import { Button, Dialog } from '@primer/react';
import { type ReactNode, useRef } from 'react';

/** Shows a dialog with a form. The first field gets the focus. */
export function FormDialog(props: { title: string; width?: 'large' | 'xlarge'; onClose(): void; children: ReactNode }) {
  const { title, width = 'large', onClose, children } = props;
  const firstField = useRef<HTMLElement>(null);
  const findFirstField = (content: HTMLDivElement | null) => {
    firstField.current = content?.querySelector<HTMLElement>('input, textarea, select') ?? null;
  };
  return (
    <Dialog title={title} onClose={onClose} width={width} initialFocusRef={firstField}>
      <div ref={findFirstField}>{children}</div>
    </Dialog>
  );
}

/** Shows the buttons at the end of a form: cancel and submit. */
export function FormButtons(props: { submit: string; isBusy?: boolean; onCancel(): void }) {
  const { submit, isBusy = false, onCancel } = props;
  return (
    <div className="row end">
      <Button onClick={onCancel}>Cancel</Button>
      <Button type="submit" variant="primary" loading={isBusy}>
        {submit}
      </Button>
    </div>
  );
}
