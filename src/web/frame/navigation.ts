import { type createBrowserRouter, matchRoutes, type RouteObject, useSearchParams } from 'react-router';

type Router = Pick<ReturnType<typeof createBrowserRouter>, 'state'>;

let router: Router | undefined;

/** Lets `isLeaving` know the router. Call it once. */
export function watchNavigation<Given extends Router>(given: Given): Given {
  router = given;
  return given;
}

/**
 * Returns whether the person has opened a page whose script has not arrived yet. A navigation replaces one that is under way,
 * so what changes the address by itself, for example after a pause in typing, must not do so now: the click would be lost.
 */
export function isLeaving(): boolean {
  return router !== undefined && router.state.navigation.state !== 'idle';
}

/**
 * Returns a function that puts a parameter into the address of the page, or takes it out if it has no value. It reads the address itself,
 * because a busy page may not yet have rendered the change before.
 */
export function useSetParam(options?: { replace: boolean }): (name: string, value: string | null) => void {
  const [, setSearchParams] = useSearchParams();
  return (name, value) => {
    const params = new URLSearchParams(window.location.search);
    if (value === null || value === '') params.delete(name);
    else params.set(name, value);
    setSearchParams(params, options);
  };
}

/** How long the pointer rests on a link before its page is loaded. Most links are only passed. */
const restMs = 80;

/**
 * Loads the script of a page, and calls `prefetch` for its data, when the pointer rests on a link to it or the link gets the
 * focus, so that the page is there sooner after the click.
 */
export function loadAhead(document: Document, routes: RouteObject[], prefetch: (pathname: string) => void): void {
  let rest: ReturnType<typeof setTimeout> | undefined;
  const known = new Set<RouteObject>();
  const load = (pathname: string) => {
    prefetch(pathname);
    for (const { route } of matchRoutes(routes, pathname) ?? []) {
      if (typeof route.lazy !== 'function' || known.has(route)) continue;
      known.add(route);
      // The click tries again, and shows the failure.
      route.lazy().catch(() => known.delete(route));
    }
  };
  const onTarget = ({ target }: Event) => {
    clearTimeout(rest);
    const link = (target as Element | null)?.closest?.('a[href^="/"]');
    const pathname = link?.getAttribute('href')?.split(/[?#]/, 1)[0];
    if (pathname !== undefined && navigator.onLine) rest = setTimeout(load, restMs, pathname);
  };
  for (const type of ['pointerover', 'focusin']) document.addEventListener(type, onTarget, { passive: true });
}
