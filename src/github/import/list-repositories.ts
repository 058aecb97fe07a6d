import type { App } from '../../app.ts';
import { normalUrl } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { listProjectRepositories } from '../../repositories/store.ts';
import type { GitHubRepository } from '../app/connect-installed.ts';
import { itemsOf } from '../paginate.ts';
import { listVisibleInstallations } from './store.ts';

/** More repositories than this are not listed: GitHub sends a hundred per request. People can still enter an address. */
const maxRepositories = 1000;

interface InstalledRepository {
  fullName: string;
  name: string;
  url: string;
  defaultBranch: string;
  isPrivate: boolean;
  isConnected: boolean;
}

/**
 * Returns the repositories that the App reaches and a person may see, by name. Archived ones are left out, because nobody
 * can push to them.
 */
export async function listInstalledRepositories(
  app: App,
  projectId: string,
  userId: string,
): Promise<InstalledRepository[]> {
  const em = app.db.manager;
  const connected = new Set((await listProjectRepositories(em, projectId)).map(({ url }) => url.toLowerCase()));
  const found: InstalledRepository[] = [];
  for (const installationId of await listVisibleInstallations(em, projectId, userId))
    for await (const repository of repositoriesOf(app, installationId)) {
      if (found.length === maxRepositories) break;
      const url = normalUrl(`${app.config.GITHUB_SERVER_URL}/${repository.full_name}`);
      found.push({
        fullName: repository.full_name,
        name: repository.name,
        url,
        defaultBranch: repository.default_branch ?? 'main',
        isPrivate: repository.private,
        isConnected: connected.has(url.toLowerCase()),
      });
    }
  return found.sort((a, b) => a.fullName.localeCompare(b.fullName));
}

async function* repositoriesOf(app: App, installationId: number): AsyncIterable<GitHubRepository> {
  if (app.github === undefined) return;
  const octokit = await app.github.asInstallation(installationId);
  try {
    const pages = octokit.paginate.iterator('GET /installation/repositories', { per_page: 100 });
    for await (const repository of itemsOf(pages as AsyncIterable<{ data: GitHubRepository[] }>))
      if (!repository.archived) yield repository;
  } catch (error) {
    // The App was uninstalled or suspended a moment ago. The other installations are still listed.
    if (!isRefusedWith(error, 401, 403, 404)) throw error;
    app.log.info({ err: error, installationId }, 'the repositories of an installation could not be listed');
  }
}
