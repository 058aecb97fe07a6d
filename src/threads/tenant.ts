import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<string>();

/** Calls a function whose work in threads is done for a tenant. */
export function forTenant<T>(tenant: string | undefined, act: () => T): T {
  return tenant === undefined ? act() : storage.run(tenant, act);
}

/** Returns for whom the current work is done; undefined for nobody in particular. */
export function currentTenant(): string | undefined {
  return storage.getStore();
}
