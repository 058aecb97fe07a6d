import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { wasNoted } from '../../audit/records.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import type { TaskView } from '../../tasks/store.ts';
import { type Place, placeOfRepository } from '../app/place.ts';
import { wordsForIssue } from '../issue-task.ts';
import { findItem } from '../paginate.ts';
import { linkIssue } from './mirror-store.ts';
import { noteRefusal } from './note-refusal.ts';

/**
 * Creates the issue of a task that wants one. If GitHub refuses it, for example because the repository has no issues, the
 * timeline of the task says so once. GitHub is then asked again with each `recheck` only, which every comparison with
 * GitHub causes.
 */
export async function makeIssue(app: App, em: EntityManager, task: TaskView, recheck: boolean): Promise<void> {
  if (!task.wantsIssue || task.issueNumber !== null || task.repositoryId === null) return;
  const place = await placeOfRepository(app, task.repositoryId);
  if (place === undefined) return;
  if (!recheck && (await wasNoted(em, task.id, 'task.issue_refused'))) return;
  try {
    const { number, html_url } = await ensureIssue(app, task, place);
    await linkIssue(em, task.id, { repositoryId: place.repository.id, number, url: html_url });
  } catch (error) {
    if (!isRefusedWith(error, 403, 404, 410, 422)) throw error;
    await noteRefusal(app, em, task, 'issue_refused', error);
  }
}

/** Searches for the issue before creating it, because GitHub's response to an earlier attempt may have been lost. */
async function ensureIssue(app: App, task: TaskView, { octokit, name }: Place) {
  const marker = `<!-- deckhand:task ${task.id} -->`;
  const bot = await app.github?.bot();
  // Starts a minute earlier, because GitHub's clock may differ from ours.
  const since = new Date(task.createdAt.getTime() - 60_000).toISOString();
  const path = 'GET /repos/{owner}/{repo}/issues';
  const pages = octokit.paginate.iterator(path, { ...name, state: 'all', since, per_page: 100 });
  const found = await findItem(pages, (issue) => issue.body?.startsWith(marker) && issue.user?.id === bot?.id);
  if (found !== undefined) return found;
  const { title, body } = wordsForIssue(task, app.config.COMMAND_PREFIX);
  const make = 'POST /repos/{owner}/{repo}/issues';
  return (await octokit.request(make, { ...name, title, body: `${marker}\n${body}` })).data;
}
