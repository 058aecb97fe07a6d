import type { App } from '../../app.ts';
import { diffOf } from '../../git/diff.ts';
import { openCheckout } from '../../repositories/checkout.ts';
import { credentialFor, remoteFor } from '../../repositories/credentials.ts';
import { findRepository } from '../../repositories/store.ts';
import { getTask } from '../../tasks/store.ts';
import { findDiff, upsertDiff } from '../../tasks/work-store.ts';

/** Time limit of a clone for a diff. */
const cloneMs = 300_000;

/** Reads the diff of a task again after somebody else pushed to its branch. `headSha` is the new head of the branch. */
export async function refreshDiff(app: App, taskId: string, headSha: string): Promise<void> {
  const em = app.db.manager;
  const task = await getTask(em, taskId);
  const repository = task.repositoryId === null ? null : await findRepository(em, task.repositoryId);
  if (repository === null || task.branchName === null) return;
  if ((await findDiff(em, taskId))?.headSha === headSha) return;
  const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
  const { checkout, remove } = await openCheckout(app, remote, AbortSignal.timeout(cloneMs));
  try {
    const base = await checkout.fetch(repository.defaultBranch);
    const head = await checkout.fetch(task.branchName);
    const from = base && head && (await checkout.mergeBase(base, head));
    if (!head || !from) return;
    const diff = await diffOf(checkout, from, head);
    await upsertDiff(em, taskId, {
      ...diff,
      branchName: task.branchName,
      baseBranch: repository.defaultBranch,
      headSha: head,
    });
  } finally {
    await remove();
  }
}
