import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { TaskView } from '../../tasks/store.ts';
import { wordsForIssue } from '../issue-words.ts';
import { findItem } from '../paginate.ts';
import { placeOfRepository } from '../place.ts';
import { linkIssue } from './mirror-store.ts';

/**
 * Creates the issue of a task that wants one. Searches for it first, because GitHub's response to an earlier attempt
 * may have been lost.
 */
export async function makeIssue(app: App, em: EntityManager, task: TaskView): Promise<void> {
  if (!task.wantsIssue || task.issueNumber !== null || task.repositoryId === null) return;
  const place = await placeOfRepository(app, task.repositoryId);
  if (place === undefined) return;
  const { octokit, name } = place;
  const marker = `<!-- deckhand:task ${task.id} -->`;
  const bot = await app.github?.bot();
  // Starts a minute earlier, because GitHub's clock may differ from ours.
  const since = new Date(task.createdAt.getTime() - 60_000).toISOString();
  const path = 'GET /repos/{owner}/{repo}/issues';
  const pages = octokit.paginate.iterator(path, { ...name, state: 'all', since, per_page: 100 });
  const found = await findItem(pages, (issue) => issue.body?.startsWith(marker) && issue.user?.id === bot?.id);
  const words = wordsForIssue(task, app.config.COMMAND_PREFIX);
  const { number, html_url } =
    found ??
    (
      await octokit.request('POST /repos/{owner}/{repo}/issues', {
        ...name,
        title: words.title,
        body: `${marker}\n${words.body}`,
      })
    ).data;
  await linkIssue(em, task.id, { repositoryId: place.repository.id, number, url: html_url });
}
