import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { diffOf } from '../../git/diff.ts';
import { credentialFor, remoteFor } from '../../repositories/credentials.ts';
import { cloneInTurn, openCheckout } from '../../repositories/reader.ts';
import { findRepository } from '../../repositories/store.ts';
import { findStaleDiff, replaceDiff, type StoredDiff } from '../../tasks/work-store.ts';
import type { PullKey } from '../store.ts';

/** Time limit of a clone for a diff. */
const cloneMs = 300_000;

/**
 * Queues the job that reads the diff of a task again, if its pull request has another head or another base now. A clone may
 * take minutes, so neither a request nor the holder of a named lock waits for it.
 */
export async function refreshDiffLater(app: App, em: EntityManager, { repositoryId, number }: PullKey): Promise<void> {
  if ((await findStaleDiff(em, { repositoryId, number })) === undefined) return;
  await app.queue.send(em, 'diff', { repositoryId, number }, { key: `${repositoryId}#${number}` });
}

/** Handles the `diff` job. */
export async function refreshDiffJob(app: App, at: PullKey): Promise<void> {
  const em = app.db.manager;
  const stale = await findStaleDiff(em, at);
  if (stale === undefined) return;
  const { taskId, before, ...branches } = stale;
  const diff = await readDiff(app, at.repositoryId, branches);
  if (diff === undefined) return;
  // A run, or a job that began later, may have stored a newer one during the clone.
  if (!(await replaceDiff(em, taskId, diff, before))) await refreshDiffLater(app, em, at);
}

type Branches = Pick<StoredDiff, 'branchName' | 'baseBranch'>;

/** Returns the changes of a branch since it left its base; undefined if one of the two is gone. */
async function readDiff(app: App, repositoryId: string, branches: Branches): Promise<StoredDiff | undefined> {
  const repository = await findRepository(app.db.manager, repositoryId);
  if (repository === null) return undefined;
  return cloneInTurn(app, repository.projectId, app.stopping, async () => {
    const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
    const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(cloneMs)]);
    const { checkout, remove } = await openCheckout(app, remote, signal);
    try {
      const base = await checkout.fetch(branches.baseBranch);
      const head = await checkout.fetch(branches.branchName);
      const from = base && head && (await checkout.mergeBase(base, head));
      if (!head || !from) return undefined;
      return { ...(await diffOf(checkout, from, head)), ...branches, headSha: head };
    } finally {
      await remove();
    }
  });
}
