import { XIcon } from '@primer/octicons-react';
import { Flash, IconButton } from '@primer/react';
import { useSyncExternalStore } from 'react';
import { explain } from '../live/query-client.ts';

interface Notice {
  id: number;
  text: string;
  variant: 'danger' | 'success' | 'default';
}

let notices: Notice[] = [];
let count = 0;
const listeners = new Set<() => void>();
const shownMs = 8000;

function set(next: Notice[]): void {
  notices = next;
  for (const tell of listeners) tell();
}

/** Says something at the foot of the page; what went wrong stays until it is closed. */
export function notify(text: string, variant: Notice['variant'] = 'default'): void {
  const id = ++count;
  set([...notices.filter((n) => n.text !== text).slice(-2), { id, text, variant }]);
  if (variant !== 'danger') setTimeout(() => set(notices.filter((n) => n.id !== id)), shownMs);
}

export const notifyError = (error: unknown): void => notify(explain(error), 'danger');

export function Notices() {
  const shown = useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => notices,
  );
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map(({ id, text, variant }) => (
        <Flash key={id} variant={variant} className="notice">
          <span className="wrap">{text}</span>
          <IconButton
            icon={XIcon}
            aria-label="Dismiss"
            variant="invisible"
            size="small"
            onClick={() => set(notices.filter((n) => n.id !== id))}
          />
        </Flash>
      ))}
    </div>
  );
}
