import { Button, Dialog } from '@primer/react';
import { type ReactNode, useRef } from 'react';

/** A dialog with something to fill in: it begins in the first field. */
export function FormDialog(props: { title: string; width?: 'large' | 'xlarge'; onClose(): void; children: ReactNode }) {
  const { title, width = 'large', onClose, children } = props;
  const first = useRef<HTMLElement>(null);
  const find = (place: HTMLDivElement | null) => {
    first.current = place?.querySelector<HTMLElement>('input, textarea, select') ?? null;
  };
  return (
    <Dialog title={title} onClose={onClose} width={width} initialFocusRef={first}>
      <div ref={find}>{children}</div>
    </Dialog>
  );
}

/** How every form ends: away without a change, or done. */
export function FormEnd({ act, isBusy = false, onClose }: { act: string; isBusy?: boolean; onClose(): void }) {
  return (
    <div className="row end">
      <Button onClick={onClose}>Close</Button>
      <Button type="submit" variant="primary" loading={isBusy}>
        {act}
      </Button>
    </div>
  );
}
