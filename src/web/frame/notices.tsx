import { XIcon } from '@primer/octicons-react';
import { Button, Flash, IconButton } from '@primer/react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { errorMessage, isConnectionError } from '../live/errors.ts';
import {
  dismiss,
  dismissConnectionErrors,
  dismissErrorsBefore,
  listNotices,
  type Notice,
  onNoticesChange,
  show,
} from './shown-notices.ts';

const shownMs = 8000;

/**
 * Shows a message in the corner of the page. An error stays until it is dismissed or no longer applies: when a later
 * action succeeds, and when the person leaves the page.
 */
export function notify(text: string, variant: Notice['variant'] = 'default', action?: Notice['action']): void {
  const id = show({ text, variant, action, isAboutConnection: false, at: Date.now() });
  if (variant !== 'danger') setTimeout(() => dismiss(id), shownMs);
}

/** Copies a text, and says so. */
export function copy(text: string, what: string): void {
  navigator.clipboard.writeText(text).then(() => notify(`${what} copied to the clipboard`, 'success'), notifyError);
}

/** Shows why an action failed. An error of the connection disappears when the connection is back. */
export const notifyError = (error: unknown): void => notifyFormError(error, {});

/** Shows why a form was refused. `labels` are those of its fields, by their names in the API. */
export function notifyFormError(error: unknown, labels: Record<string, string>): void {
  show({
    text: errorMessage(error, labels),
    variant: 'danger',
    isAboutConnection: isConnectionError(error),
    at: Date.now(),
  });
}

export function Notices() {
  const notices = useSyncExternalStore(onNoticesChange, listNotices);
  useOutdated();
  return (
    <div className="notices" role="status" aria-live="polite">
      {notices.map(({ id, text, variant, action }) => (
        <Flash key={id} variant={variant} className="notice">
          <span className="wrap">{text}</span>
          {action !== undefined && action.to !== window.location.pathname && (
            <Button
              size="small"
              onClick={() => {
                dismiss(id);
                action.act();
              }}
            >
              {action.name}
            </Button>
          )}
          <IconButton icon={XIcon} aria-label="Dismiss" variant="invisible" size="small" onClick={() => dismiss(id)} />
        </Flash>
      ))}
    </div>
  );
}

/** Dismisses errors that no longer apply. */
function useOutdated(): void {
  const client = useQueryClient();
  useEffect(() => {
    window.addEventListener('online', dismissConnectionErrors);
    const unsubscribe = client.getMutationCache().subscribe(({ type, mutation }) => {
      // Only the success of an action that began after an error was shown means that the error no longer applies.
      if (type === 'updated' && mutation.state.status === 'success') dismissErrorsBefore(mutation.state.submittedAt);
    });
    return () => {
      window.removeEventListener('online', dismissConnectionErrors);
      unsubscribe();
    };
  }, [client]);
}
