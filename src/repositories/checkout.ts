import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../app.ts';
import type { Checkout, Remote } from '../git/engine.ts';
import { removeTree } from '../sandbox/remove-tree.ts';
import type { Confinement, ToolHost } from '../sandbox/sandbox.ts';

/** A repository in a separate folder, until `remove` is called. */
export interface OpenCheckout {
  checkout: Checkout;
  /**
   * Deletes the folder. Never throws: a folder that cannot be deleted now is deleted at a later start of the service.
   */
  remove(): Promise<void>;
}

/** Opens a repository in a new folder. Its name is random, because the mounts inside a sandbox reveal it. */
export async function openCheckout(app: App, remote: Remote, signal: AbortSignal): Promise<OpenCheckout> {
  const folder = join(app.workDir, randomBytes(6).toString('hex'));
  const clear = () =>
    removeTree(folder).catch((error) => app.log.warn({ err: error, folder }, 'could not remove a workspace'));
  await mkdir(folder, { recursive: true, mode: 0o711 });
  try {
    const checkout = await app.git.open(
      remote,
      { gitDir: join(folder, 'git'), workTree: join(folder, 'work') },
      signal,
    );
    const remove = async () => {
      await checkout.close();
      await clear();
    };
    return { checkout, remove };
  } catch (error) {
    await clear();
    throw error;
  }
}

/**
 * Starts the tools of a checkout while `place` writes its files. Both take at least 60 ms, and no tool is called before
 * the files exist.
 */
export async function startToolsIn<T>(
  confinement: Confinement,
  { workTree, gitDir }: Checkout,
  place: () => Promise<T>,
): Promise<{ host: ToolHost; placed: T }> {
  const starting = confinement.open(workTree, gitDir);
  // The promise is awaited below. Until then, a failure must not become an unhandled rejection.
  starting.catch(() => {});
  try {
    const placed = await place();
    await confinement.own(workTree);
    return { host: await starting, placed };
  } catch (error) {
    await starting.then(
      (host) => host.close(),
      () => {},
    );
    throw error;
  }
}

/** Starts the tools of a checkout in a new sandbox, which ends with the tools or when `signal` aborts. */
export async function startTools<T>(
  app: App,
  checkout: Checkout,
  signal: AbortSignal,
  place: () => Promise<T>,
): Promise<{ host: ToolHost; placed: T }> {
  const confinement = await app.sandbox.confine(signal);
  try {
    const { host, placed } = await startToolsIn(confinement, checkout, place);
    return { placed, host: { ...host, close: () => host.close().then(confinement.close) } };
  } catch (error) {
    await confinement.close();
    throw error;
  }
}
