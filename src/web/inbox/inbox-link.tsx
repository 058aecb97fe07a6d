import { BellIcon } from '@primer/octicons-react';
import { CounterLabel } from '@primer/react';
import { Link, useLocation } from 'react-router';
import { useInboxEvents } from './use-inbox-events.ts';
import { useInbox, useSignals } from './use-signals.ts';

/** Shows the link to the inbox with the number of tasks in it, and keeps the inbox up to date on every page. */
export function InboxLink() {
  const isReady = useInboxEvents();
  const entries = useInbox(isReady);
  useSignals(entries, isReady);
  const { pathname } = useLocation();
  const count = entries?.length ?? 0;
  const isHere = pathname === '/' || pathname === '/inbox';
  return (
    <Link to="/" className="inbox-link" {...(isHere ? { 'aria-current': 'page' } : {})}>
      <BellIcon /> <span className="wide-word">Inbox</span>
      {count > 0 && <CounterLabel>{count > 99 ? '99+' : count}</CounterLabel>}
    </Link>
  );
}
