import type { App } from '../../app.ts';
import { credentialFor, nameOnGitHub, octokitFor } from '../../repositories/credentials.ts';
import { findRepository } from '../../repositories/store.ts';
import { eachThenFail } from '../each-apart.ts';
import { refreshPull } from '../follow/refresh-pull.ts';
import { listOpenWork, listUnsettledPulls, markCompared, type OpenWork } from '../store.ts';

/**
 * Compares the pull requests of a repository that is connected without the App with GitHub: GitHub sends no events about
 * it, so nothing else tells that people merged or closed them. Other git hosts have no pull requests that we know.
 * `compare` is called for each task, and reads its pull requests by calling its last argument.
 */
export async function compareConnected(
  app: App,
  repositoryId: string,
  compare: (work: OpenWork, read: () => Promise<void>) => Promise<boolean>,
): Promise<void> {
  const repository = await findRepository(app.db.manager, repositoryId);
  const name = repository && nameOnGitHub(app, repository.url);
  if (repository === null || name == null) return;
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none') return;
  const octokit = await octokitFor(app, credential);
  for (const work of await listOpenWork(app.db.manager, repositoryId)) {
    const pulls = await listUnsettledPulls(app.db.manager, work.taskId, repositoryId);
    const read = () =>
      eachThenFail(pulls, async (pull) => {
        await refreshPull(app, octokit, name, pull);
      });
    if (!(await compare(work, read))) return;
    await markCompared(app.db.manager, repositoryId, work.taskId);
  }
}
