import type { createBrowserRouter } from 'react-router';

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
