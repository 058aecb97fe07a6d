import { AsyncLocalStorage } from 'node:async_hooks';

interface Ambient {
  tenant: string;
  /** The tenant is a user whose request is handled. */
  isPerson: boolean;
}

const storage = new AsyncLocalStorage<Ambient>();

/** Calls a function whose work in threads is done for a tenant. */
export function forTenant<T>(tenant: string | undefined, act: () => T): T {
  return tenant === undefined ? act() : storage.run({ tenant, isPerson: false }, act);
}

/** Calls a function that handles a request of a user. */
export function forPerson<T>(userId: string, act: () => T): T {
  return storage.run({ tenant: userId, isPerson: true }, act);
}

/** Returns for whom the current work is done; undefined for nobody in particular. */
export function currentTenant(): string | undefined {
  return storage.getStore()?.tenant;
}

/** Returns the id of the user whose request is being handled; undefined outside of requests. */
export function currentPerson(): string | undefined {
  const ambient = storage.getStore();
  return ambient?.isPerson ? ambient.tenant : undefined;
}
