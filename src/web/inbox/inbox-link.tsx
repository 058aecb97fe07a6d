import { BellIcon } from '@primer/octicons-react';
import { CounterLabel } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'react-router';
import * as queries from '../live/queries.ts';
import { useInboxEvents } from './use-inbox-events.ts';

/** Shows the link to the inbox with the number of tasks in it, and keeps the inbox up to date on every page. */
export function InboxLink() {
  useInboxEvents();
  const { data: entries = [] } = useQuery(queries.inbox());
  const { pathname } = useLocation();
  const count = entries.length;
  return (
    <Link to="/inbox" className="inbox-link" {...(pathname === '/inbox' ? { 'aria-current': 'page' } : {})}>
      <BellIcon /> <span className="inbox-word">Inbox</span>
      {count > 0 && <CounterLabel>{count > 99 ? '99+' : count}</CounterLabel>}
    </Link>
  );
}
