import { XIcon } from '@primer/octicons-react';
import { Flash, IconButton } from '@primer/react';
import { useSyncExternalStore } from 'react';
import { errorMessage } from '../live/errors.ts';

interface Notice {
  id: number;
  text: string;
  variant: 'danger' | 'success' | 'default';
}

let notices: Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();
const shownMs = 8000;
/** Maximum number of notices. A further one replaces the oldest. */
const maxNotices = 3;

function setNotices(next: Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number) => setNotices(notices.filter((n) => n.id !== id));

/** Shows a message in the corner of the page. Errors stay until they are dismissed. */
export function notify(text: string, variant: Notice['variant'] = 'default'): void {
  const id = ++lastId;
  const others = notices.filter((n) => n.text !== text).slice(1 - maxNotices);
  setNotices([...others, { id, text, variant }]);
  if (variant !== 'danger') setTimeout(() => dismiss(id), shownMs);
}

export const notifyError = (error: unknown): void => notify(errorMessage(error), 'danger');

export function Notices() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notices,
  );
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map(({ id, text, variant }) => (
        <Flash key={id} variant={variant} className="notice">
          <span className="wrap">{text}</span>
          <IconButton icon={XIcon} aria-label="Dismiss" variant="invisible" size="small" onClick={() => dismiss(id)} />
        </Flash>
      ))}
    </div>
  );
}
