import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables.ts';
import { GitFailed } from '../git/engine.ts';
import { HostClosed } from '../git/remote-url.ts';
import { removeTree } from '../sandbox/remove-tree.ts';
import type { ToolAnswer, ToolHost } from '../sandbox/sandbox.ts';
import { credentialFor, remoteFor } from './credentials.ts';

/** Reads in a repository through the same wall as a run. */
export interface Reader {
  /** Clones at the first call. What cannot be read is an answer for the model, never thrown. */
  call(tool: string, args: object): Promise<ToolAnswer>;
  close(): Promise<void>;
}

/** Reads in a repository at a branch, or at its default branch where there is no such branch. */
export function openReader(app: App, repository: RepositoryRow, branch: string | null, signal: AbortSignal): Reader {
  const folder = join(app.workDir, `read-${randomUUID()}`);
  let host: Promise<ToolHost> | undefined;
  return {
    call: async (tool, args) => {
      try {
        host ??= openHost(app, repository, branch, folder, signal);
        return await (await host).call(tool, args);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof GitFailed || error instanceof HostClosed || error instanceof Unreadable)) throw error;
        return { ok: false, text: `the repository cannot be read: ${error.message}` };
      }
    },
    close: async () => {
      await (await host?.catch(() => undefined))?.close();
      await removeTree(folder).catch((error) => app.log.warn({ err: error, folder }, 'a workspace was not removed'));
    },
  };
}

class Unreadable extends Error {}

async function openHost(
  app: App,
  repository: RepositoryRow,
  branch: string | null,
  folder: string,
  signal: AbortSignal,
): Promise<ToolHost> {
  const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
  const [gitDir, workTree] = [join(folder, 'git'), join(folder, 'work')];
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const checkout = await app.git.open(remote, { gitDir, workTree }, signal);
  const commit =
    (branch === null ? undefined : await checkout.fetch(branch)) ?? (await checkout.fetch(repository.defaultBranch));
  if (commit === undefined) throw new Unreadable(`it has no branch ${repository.defaultBranch}`);
  await checkout.checkout(commit);
  await app.sandbox.own(workTree);
  return app.sandbox.open(workTree, gitDir, signal);
}
