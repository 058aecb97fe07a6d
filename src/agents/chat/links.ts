import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { taskPage } from '../../domain/task-page.ts';
import { mentionsIn, withLinks } from '../../domain/text/name-links.ts';
import { nameOnGitHub } from '../../repositories/credentials.ts';
import { findNumbered, findTitles } from './store.ts';

/** The files that an answer may link to. */
export interface KnownFiles {
  repository: RepositoryRow | null;
  /** Returns a commit that has the file, or undefined if none is known. */
  commitWith: (path: string) => Promise<string | undefined>;
}

/**
 * Links the tasks, issues, pull requests and files that an answer names. Only what exists in the project becomes a link,
 * so an answer cannot lead to a made-up page. Without a project, links only files.
 */
export async function linkAnswer(
  app: App,
  projectId: string | undefined,
  answer: string,
  files: KnownFiles,
): Promise<string> {
  const { taskIds, numbers, paths } = mentionsIn(answer);
  const em = app.db.manager;
  const titles = new Map(
    projectId === undefined || taskIds.length === 0
      ? []
      : (await findTitles(em, projectId, taskIds)).map((task) => [task.id, task.title]),
  );
  const numbered = new Map(
    projectId === undefined || numbers.length === 0
      ? []
      : (await findNumbered(em, projectId, numbers)).map(({ number, taskId, url }) => [
          number,
          url ?? taskPage(app.config.BASE_URL, taskId),
        ]),
  );
  const addresses = await addressesOf(app, files, paths);
  return withLinks(answer, {
    task: (id) => {
      const title = titles.get(id);
      return title === undefined ? undefined : { title, url: taskPage(app.config.BASE_URL, id) };
    },
    numbered: (number) => numbered.get(number),
    file: (path, line) => {
      const address = addresses.get(path);
      return address === undefined || line === undefined ? address : `${address}#L${line}`;
    },
  });
}

/** Returns the addresses of files on GitHub, at the commit that was read, so that they stay valid. */
async function addressesOf(app: App, { repository, commitWith }: KnownFiles, paths: string[]) {
  const addresses = new Map<string, string>();
  if (repository === null || nameOnGitHub(app, repository.url) === undefined) return addresses;
  const page = repository.url.replace(/\.git$/, '');
  for (const path of paths) {
    const commit = await commitWith(path);
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    if (commit !== undefined) addresses.set(path, `${page}/blob/${commit}/${encoded}`);
  }
  return addresses;
}
