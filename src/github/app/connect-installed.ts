import type { EntityManager } from 'typeorm';
import type { Answered, App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import { normalUrl } from '../../git/remote-url.ts';
import { findByUrl, hasRepositories, insertRepository, lockProjectRow } from '../../repositories/store.ts';
import { listenFromNow } from '../deliveries/delivery-store.ts';
import { findByGitHubId, isNameTaken, setMovedAside, storeSeen } from './installation-store.ts';

/** The fields of a repository that we use. */
export type GitHubRepository = Pick<
  Answered<'GET /installation/repositories'>['repositories'][number],
  'id' | 'name' | 'full_name' | 'private' | 'archived' | 'default_branch'
>;

/** Connects the repositories that an installation covers to its project. Updates those that are already connected. */
export async function connectInstalled(
  app: App,
  em: EntityManager,
  projectId: string,
  found: GitHubRepository[],
): Promise<void> {
  await lockProjectRow(em, projectId);
  const urlOf = (r: GitHubRepository) => normalUrl(`${app.config.GITHUB_SERVER_URL}/${r.full_name}`);
  // Renamed repositories give up their old addresses first, because another repository may have taken one over.
  await setMovedAside(
    em,
    projectId,
    found.map((r) => ({ githubId: Number(r.id), url: urlOf(r) })),
  );
  for (const repository of found) await connect(em, projectId, repository, urlOf(repository));
}

async function connect(em: EntityManager, projectId: string, repository: GitHubRepository, url: string): Promise<void> {
  const seen = {
    isPrivate: repository.private,
    isArchived: repository.archived ?? false,
    isInstalled: true,
    githubId: Number(repository.id),
    url,
  };
  const known =
    (await findByGitHubId(em, projectId, Number(repository.id))) ?? (await findByUrl(em, projectId, url)) ?? undefined;
  const id = known?.id ?? newId('repo');
  if (!known?.isInstalled) await listenFromNow(em, id);
  if (known !== undefined) return storeSeen(em, id, seen);
  await insertRepository(em, {
    ...seen,
    id,
    projectId,
    name: await freeName(em, projectId, repository),
    defaultBranch: repository.default_branch ?? 'main',
    isDocsRepo: false,
    connectedBy: null,
    isPrimary: !(await hasRepositories(em, projectId)),
  });
}

/**
 * Returns GitHub's name of the repository. Prefixes the owner when the project already has a repository of that name.
 */
async function freeName(em: EntityManager, projectId: string, { name, full_name }: GitHubRepository): Promise<string> {
  return (await isNameTaken(em, projectId, name)) ? full_name.replace('/', '-').slice(0, 100) : name;
}
