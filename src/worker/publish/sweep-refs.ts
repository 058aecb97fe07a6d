import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import { liveRun } from '../../db/tables/run.ts';
import { asideRef } from '../../git/engine.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { tryLockForEnd } from '../../runs/store.ts';

/** Refs are looked for during this time after the last run or plan of a project. Quiet repositories cost no requests. */
const lookedForDays = 7;

/** The refs with the objects of a commit: each has the id of the run or of the plan that pushed it. */
const ourRef = new RegExp(`^${asideRef('')}((?:run|wiz)_[0-9a-z]{26})$`);

/**
 * Deletes the refs that killed or cancelled work left in a repository on GitHub; see `sign.ts`. Refs of live runs, of runs
 * that are not in this database, and all that are not called like ours stay.
 */
export async function sweepRefs(
  app: App,
  { octokit, name, projectId }: { octokit: Octokit; name: RepoName; projectId: string },
): Promise<void> {
  if (!(await wasAtWork(app.db.manager, projectId))) return;
  for (const id of await listOurs(octokit, name))
    await app.db.transaction(async (em) => {
      // Nobody pushes while this transaction has the lock, and a worker that gets it later finds that its run has ended.
      if (!(await tryLockForEnd(em, id)) || !(await isOver(em, id))) return;
      await remove(octokit, { ...name, ref: asideRef(id).replace(/^refs\//, '') });
      app.log.info({ ref: asideRef(id), ...name }, 'a ref that a run or a plan had left was removed');
    });
}

async function wasAtWork(em: EntityManager, projectId: string): Promise<boolean> {
  const [{ was }]: [{ was: boolean }] = await em.query(
    `select exists (select from runs where project_id = $1 and finished_at > now() - interval '${lookedForDays} days')
       or exists (select from wizard_sessions where project_id = $1 and updated_at > now() - interval '${lookedForDays} days')
       as was`,
    [projectId],
  );
  return was;
}

async function listOurs(octokit: Octokit, name: RepoName): Promise<string[]> {
  const at = { ...name, ref: asideRef('').replace(/^refs\/|\/$/g, '') };
  try {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/matching-refs/{ref}', at);
    return data.flatMap(({ ref }) => ourRef.exec(ref)?.[1] ?? []);
  } catch (error) {
    // The repository is empty.
    if (isRefusedWith(error, 409)) return [];
    throw error;
  }
}

/** Returns whether the run has ended. A plan has no end: without the lock, it is only known that nobody pushes for it now. */
async function isOver(em: EntityManager, id: string): Promise<boolean> {
  const rows: unknown[] = await em.query(
    `select from runs where id = $1 and status not in ${liveRun} union all select from wizard_sessions where id = $1`,
    [id],
  );
  return rows.length > 0;
}

async function remove(octokit: Octokit, at: RepoName & { ref: string }): Promise<void> {
  try {
    await octokit.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', at);
  } catch (error) {
    // Somebody else has removed it.
    if (!isRefusedWith(error, 404, 422)) throw error;
  }
}
