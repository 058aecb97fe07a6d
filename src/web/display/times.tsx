import { RelativeTime } from '@primer/react';
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { exactTime } from './names.ts';

// One timer for all clocks of a page. It only runs while a clock is shown, and changes nothing while the page is hidden.
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function tick(): void {
  if (document.hidden) return;
  now = Date.now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = Date.now();
    timer = setInterval(tick, 1000);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

const newestNow = () => (listeners.size === 0 ? Date.now() : now);

/** Returns the current time in ms, rounded down to a step. The component is rendered again only when a step has passed. */
export function useNow(stepMs: number): number {
  return useSyncExternalStore(subscribe, () => Math.floor(newestNow() / stepMs) * stepMs);
}

/** Returns a text about the current time. The component is rendered again only when the text has changed. */
export function useTimeText(textAt: (now: number) => string): string {
  return useSyncExternalStore(subscribe, () => textAt(newestNow()));
}

const justNowMs = 60_000;

/** Shows a time relative to now, such as `3 minutes ago`, with the exact time on hover. */
export function TimeAgo({ at }: { at: string }) {
  const isJustNow = useIsJustNow(at);
  return <Timestamp at={at}>{isJustNow ? 'just now' : <RelativeTime date={new Date(at)} noTitle />}</Timestamp>;
}

/** Shows `started less than a minute ago` or `started 3 minutes ago`. */
export function StartedAgo({ at }: { at: string }) {
  const isJustNow = useIsJustNow(at);
  if (isJustNow) return <Timestamp at={at}>started less than a minute ago</Timestamp>;
  return (
    <>
      started <TimeAgo at={at} />
    </>
  );
}

function Timestamp({ at, children }: { at: string; children: ReactNode }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {children}
    </time>
  );
}

/** Returns whether a time is less than a minute from now. The clocks of browser and service may differ a little. */
function useIsJustNow(at: string): boolean {
  const [, rerender] = useState(0);
  const endsAt = Date.parse(at) + justNowMs;
  useEffect(() => {
    const left = endsAt - Date.now();
    if (left <= 0 || left > 2 * justNowMs) return;
    const timer = setTimeout(() => rerender((n) => n + 1), left);
    return () => clearTimeout(timer);
  }, [endsAt]);
  return Math.abs(Date.now() - Date.parse(at)) < justNowMs;
}

/** Shows a calendar day in the person's own format. Sprints start and end on days in UTC. */
export function Day({ date }: { date: string }) {
  return <time dateTime={date.slice(0, 10)}>{dayText(date)}</time>;
}

/** Returns a calendar day, `YYYY-MM-DD` with or without a time after it, in the person's own format. */
export function dayText(date: string): string {
  const day = new Date(`${date.slice(0, 10)}T00:00:00Z`);
  return day.toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
}
