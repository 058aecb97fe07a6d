import { useSyncExternalStore } from 'react';

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

/** Returns the current time in ms, rounded down to a step. The component is rendered again only when a step has passed. */
export function useNow(stepMs: number): number {
  return useSyncExternalStore(subscribe, () => Math.floor((listeners.size === 0 ? Date.now() : now) / stepMs) * stepMs);
}
