import { onlineManager } from '@tanstack/react-query';
import { type ComponentType, lazy, useSyncExternalStore } from 'react';
import type { RouteObject } from 'react-router';

/**
 * Loads a part of the dashboard for the first time. While the browser is offline, this waits for the connection, so that
 * the current page stays. It does not try first, because browsers remember that a script could not be loaded.
 */
async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  if (!navigator.onLine) await whenOnline();
  return load();
}

/** Parts that a page may open and that were not loaded yet. */
const toLoad = new Set<() => Promise<unknown>>();
/** How long after the last page was loaded its parts are loaded too. The page itself and its data go first. */
const quietMs = 3000;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Works like React's `lazy`, and waits for a connection. The part is also loaded some time after the page that can open it, so
 * that it opens at once, and without a connection.
 */
export function lazyPart<Props>(load: () => Promise<{ default: ComponentType<Props> }>) {
  let loaded: Awaited<ReturnType<typeof load>> | undefined;
  toLoad.add(async () => {
    loaded = await load();
  });
  clearTimeout(timer);
  timer = setTimeout(loadWaiting, quietMs);
  return lazy(async () => loaded ?? loadPart(load));
}

/** Loads the waiting parts one after the other. One that fails is loaded when it is opened. */
async function loadWaiting(): Promise<void> {
  for (const load of toLoad) {
    if (!navigator.onLine) await whenOnline();
    toLoad.delete(load);
    await load().catch(() => {});
  }
}

/** Lets the pages of routes wait for a connection when they are loaded. */
export function loadedOnline(routes: RouteObject[]): RouteObject[] {
  return routes.map((route) => {
    const { lazy: load, children } = route;
    return {
      ...route,
      ...(typeof load === 'function' ? { lazy: () => loadPart(load) } : {}),
      ...(children === undefined ? {} : { children: loadedOnline(children) }),
    } as RouteObject;
  });
}

/** Returns whether the browser has a connection, and renders again when that changes. */
export function useIsOnline(): boolean {
  return useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
}

/** Resolves when the browser has a connection again. */
function whenOnline(): Promise<void> {
  return new Promise((resolve) => window.addEventListener('online', () => resolve(), { once: true }));
}
