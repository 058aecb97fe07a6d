import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { type Checkout, GitFailed, type Remote } from '../git/engine.ts';
import { fewAtOnce } from '../git/few-at-once.ts';
import { HostClosed } from '../git/remote-url.ts';
import { tenantOfProject } from '../projects/budgets.ts';
import { removeTree } from '../sandbox/neutral-path.ts';
import type { Confinement, ToolAnswer, ToolHost } from '../sandbox/sandbox.ts';
import { credentialFor, remoteFor } from './credentials.ts';
import { rightProblem } from './rights.ts';

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

/**
 * Takes turns with the clones for chats, plans and diffs of this process, which may also serve everybody else: four at once, two
 * of them of one tenant.
 */
export async function cloneInTurn<T>(
  app: App,
  projectId: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  return cloneFew(await tenantOfProject(app.db.manager, projectId), signal, work);
}

const cloneFew = fewAtOnce(4, 2);

async function openHost(app: App, { repository, branch, readers }: Reading, signal: AbortSignal): Promise<Opened> {
  const problem = await rightProblem(app, readers, repository, 'read');
  if (problem !== undefined) throw new Unreadable(problem.message);
  const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
  return cloneInTurn(app, repository.projectId, signal, () => cloneFor(app, remote, { repository, branch }, signal));
}

async function cloneFor(
  app: App,
  remote: Remote,
  { repository, branch }: Pick<Reading, 'repository' | 'branch'>,
  signal: AbortSignal,
): Promise<Opened> {
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
