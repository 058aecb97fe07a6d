import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../app.ts';
import type { Checkout, Remote } from '../git/engine.ts';
import { removeTree } from '../sandbox/remove-tree.ts';
import type { ToolHost } from '../sandbox/sandbox.ts';

/** A repository in a folder of its own, for as long as somebody works with it. */
export interface OpenCheckout {
  checkout: Checkout;
  /** Never throws: what cannot be removed now goes at a later start. */
  remove(): Promise<void>;
}

/** Opens a repository in the folder of that name in the service's work folder; what was there before is removed. */
export async function openCheckout(app: App, name: string, remote: Remote, signal: AbortSignal): Promise<OpenCheckout> {
  const folder = join(app.workDir, name);
  const clear = () =>
    removeTree(folder).catch((error) => app.log.warn({ err: error, folder }, 'a workspace was not removed'));
  await clear();
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
 * Starts the tools of a checkout while `place` puts its files in place: both take 60 ms and more, and the tools are not
 * asked for anything before. `signal` ends them.
 */
export async function startTools<T>(
  app: App,
  { workTree, gitDir }: Checkout,
  signal: AbortSignal,
  place: () => Promise<T>,
): Promise<{ host: ToolHost; placed: T }> {
  const starting = app.sandbox.open(workTree, gitDir, signal);
  // Awaited below; until then it is nobody's.
  starting.catch(() => {});
  try {
    const placed = await place();
    await app.sandbox.own(workTree);
    return { host: await starting, placed };
  } catch (error) {
    await starting.then(
      (host) => host.close(),
      () => {},
    );
    throw error;
  }
}
