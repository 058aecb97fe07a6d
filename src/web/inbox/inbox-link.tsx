import { BellIcon } from '@primer/octicons-react';
import { CounterLabel } from '@primer/react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import type { InboxEntry } from '../api.ts';
import { showCountInTitle } from '../frame/page-header.tsx';
import { subscribe } from '../live/event-stream.ts';
import { openTimeoutMs } from '../live/project-events.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as queries from '../live/queries.ts';
import { soon } from '../live/soon.ts';
import { notificationState, notificationsFor, showNotification } from './notifications.ts';
import { newEntries } from './outcome.ts';

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

/**
 * Fetches the inbox again whenever it may have changed in any project. Returns whether it may be fetched for the first time:
 * when its stream is open, so that one request is enough, or has not opened for a while, as in a hidden tab.
 */
function useInboxEvents(): boolean {
  const client = useQueryClient();
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    let wasReady = false;
    const becomeReady = () => {
      wasReady = true;
      setReady(true);
    };
    const openTimeout = setTimeout(becomeReady, openTimeoutMs);
    const refetch = () => void client.invalidateQueries({ queryKey: ['inbox'] });
    let cancel = () => {};
    const refetchSoon = () => {
      cancel = soon(refetch);
    };
    const onOpen = () => {
      if (wasReady) refetchSoon();
      becomeReady();
    };
    const unsubscribe = subscribe('/api/v1/me/inbox', { events: { inbox: refetchSoon }, onOpen }, { isShared: true });
    return () => {
      unsubscribe();
      clearTimeout(openTimeout);
      cancel();
    };
  }, [client]);
  return isReady;
}

/**
 * How often a hidden tab fetches the inbox. It has no event stream, because a browser allows few connections for all
 * tabs; browsers slow down the timers of hidden tabs to about one a minute.
 */
const hiddenPollMs = 30_000;

/** Fetches the inbox on every page as soon as `isReady`: after an event, or regularly while the tab is hidden. */
function useInbox(isReady: boolean): InboxEntry[] | undefined {
  const refetchInterval = useIsHidden() ? hiddenPollMs : false;
  return useQuery({ ...queries.inbox(), enabled: isReady, refetchInterval, refetchIntervalInBackground: true }).data;
}

/** Shows in the tab what happens in all projects: the number of entries, running work, and notifications while it is hidden. */
function useSignals(entries: InboxEntry[] | undefined, isReady: boolean): void {
  useNotifications(entries);
  const count = entries?.length ?? 0;
  useEffect(() => void showCountInTitle(count), [count]);
  // With the inbox, so that both are one request.
  const { data: agents } = useQuery({ ...agentQueries.allAgents(), enabled: isReady });
  const isWorking = agents?.some(({ status }) => status === 'busy') ?? false;
  useEffect(() => void showIcon(isWorking ? '/icon-working.svg' : '/icon.svg'), [isWorking]);
}

function useIsHidden(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener('visibilitychange', listener);
      return () => document.removeEventListener('visibilitychange', listener);
    },
    () => document.hidden,
  );
}

/** Shows a notification about each entry that arrives while the tab is hidden. */
function useNotifications(entries: InboxEntry[] | undefined): void {
  const before = useRef<InboxEntry[]>(undefined);
  const navigate = useNavigate();
  useEffect(() => {
    const arrived = before.current && entries ? newEntries(before.current, entries) : [];
    before.current = entries ?? before.current;
    if (!document.hidden || notificationState() !== 'on') return;
    for (const text of notificationsFor(arrived)) showNotification(text, (path) => void navigate(path));
  }, [entries, navigate]);
}

function showIcon(address: string): void {
  document.querySelector('link[rel=icon]')?.setAttribute('href', address);
}
