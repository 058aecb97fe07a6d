import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { useNavigate } from 'react-router';
import type { InboxEntry } from '../api.ts';
import { showCountInTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { notificationState, notificationsFor, showNotification } from './notifications.ts';
import { newEntries } from './outcome.ts';

/**
 * How often a hidden tab fetches the inbox. It has no event stream, because a browser allows few connections for all
 * tabs; browsers slow down the timers of hidden tabs to about one a minute.
 */
const hiddenPollMs = 30_000;

/** Fetches the inbox on every page as soon as `isReady`: after an event, or regularly while the tab is hidden. */
export function useInbox(isReady: boolean): InboxEntry[] | undefined {
  const refetchInterval = useIsHidden() ? hiddenPollMs : false;
  return useQuery({ ...queries.inbox(), enabled: isReady, refetchInterval, refetchIntervalInBackground: true }).data;
}

/** Shows in the tab what happens in all projects: the number of entries, running work, and notifications while it is hidden. */
export function useSignals(entries: InboxEntry[] | undefined, isReady: boolean): void {
  useNotifications(entries);
  const count = entries?.length ?? 0;
  useEffect(() => showCountInTitle(count), [count]);
  // With the inbox, so that both are one request.
  const { data: agents } = useQuery({ ...queries.allAgents(), enabled: isReady });
  const isWorking = agents?.some(({ status }) => status === 'busy') ?? false;
  useEffect(() => showIcon(isWorking ? '/icon-working.svg' : '/icon.svg'), [isWorking]);
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
