import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { GitFailed } from '../git/engine.ts';
import { HostClosed } from '../git/remote-url.ts';
import type { ToolAnswer, ToolHost } from '../sandbox/sandbox.ts';
import { openCheckout, startTools } from './checkout.ts';
import { credentialFor, remoteFor } from './credentials.ts';

/** Reads the files of a repository inside a sandbox, as a run does. */
export interface Reader {
  /**
   * Calls a tool. The first call clones the repository. If the repository cannot be read, the result tells the model
   * so; no error is thrown.
   */
  call(tool: string, args: object): Promise<ToolAnswer>;
  close(): Promise<void>;
}

/** Opens a reader at a branch, or at the default branch if that branch does not exist. */
export function openReader(app: App, repository: RepositoryRow, branch: string | null, signal: AbortSignal): Reader {
  let opened: Promise<{ host: ToolHost; remove(): Promise<void> }> | undefined;
  return {
    call: async (tool, args) => {
      try {
        opened ??= openHost(app, repository, branch, signal);
        return await (await opened).host.call(tool, args);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof GitFailed || error instanceof HostClosed || error instanceof Unreadable)) throw error;
        return { ok: false, text: `the repository cannot be read: ${error.message}` };
      }
    },
    close: async () => {
      const was = await opened?.catch(() => undefined);
      await was?.host.close();
      await was?.remove();
    },
  };
}

class Unreadable extends Error {}

async function openHost(app: App, repository: RepositoryRow, branch: string | null, signal: AbortSignal) {
  const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    const { host } = await startTools(app, checkout, signal, async () => {
      const commit =
        (branch === null ? undefined : await checkout.fetch(branch)) ??
        (await checkout.fetch(repository.defaultBranch));
      if (commit === undefined) throw new Unreadable(`it has no branch ${repository.defaultBranch}`);
      await checkout.checkout(commit);
    });
    return { host, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
