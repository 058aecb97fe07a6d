import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { type Checkout, GitFailed } from '../git/engine.ts';
import { HostClosed } from '../git/remote-url.ts';
import type { ToolAnswer, ToolHost } from '../sandbox/sandbox.ts';
import { openCheckout, startTools } from './checkout.ts';
import { credentialFor, remoteFor } from './credentials.ts';
import { rightProblem } from './rights.ts';

/** Reads the files of a repository inside a sandbox, as a run does. */
export interface Reader {
  /**
   * Calls a tool. The first call clones the repository. If the repository cannot be read, the result tells the model
   * so; no error is thrown.
   */
  call(tool: string, args: object): Promise<ToolAnswer>;
  /** Returns the commit that is read if it has this file. Returns undefined if nothing was read yet. */
  commitWith(path: string): Promise<string | undefined>;
  close(): Promise<void>;
}

/** What a reader reads, and the users who decide what it reads or see it. All of them need read permission. */
interface Reading {
  repository: RepositoryRow;
  /** The branch; the default branch if it is null or does not exist. */
  branch: string | null;
  readers: string[];
}

/** Opens a reader. Whether its readers may read the repository is asked at the first call. */
export function openReader(app: App, reading: Reading, signal: AbortSignal): Reader {
  let opened: ReturnType<typeof openHost> | undefined;
  return {
    call: async (tool, args) => {
      try {
        opened ??= openHost(app, reading, signal);
        return await (await opened).host.call(tool, args);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof GitFailed || error instanceof HostClosed || error instanceof Unreadable)) throw error;
        return { ok: false, text: `the repository cannot be read: ${error.message}` };
      }
    },
    commitWith: async (path) => {
      const was = await opened?.catch(() => undefined);
      const file = await was?.checkout.readFile(was.commit, path).catch(() => undefined);
      return file === undefined ? undefined : was?.commit;
    },
    close: async () => {
      const was = await opened?.catch(() => undefined);
      await was?.host.close();
      await was?.remove();
    },
  };
}

class Unreadable extends Error {}

interface Opened {
  host: ToolHost;
  checkout: Checkout;
  commit: string;
  remove(): Promise<void>;
}

async function openHost(app: App, { repository, branch, readers }: Reading, signal: AbortSignal): Promise<Opened> {
  const problem = await rightProblem(app, readers, repository, 'read');
  if (problem !== undefined) throw new Unreadable(problem.message);
  const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    const { host, placed: commit } = await startTools(app, checkout, signal, async () => {
      const commit =
        (branch === null ? undefined : await checkout.fetch(branch)) ??
        (await checkout.fetch(repository.defaultBranch));
      if (commit === undefined) throw new Unreadable(`it has no branch ${repository.defaultBranch}`);
      await checkout.checkout(commit);
      return commit;
    });
    return { host, checkout, commit, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
