import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { Tasks } from '../../db/work-tables.ts';
import { harmless, harmlessLine } from '../../domain/text/quoted.ts';
import type { TaskView } from '../../tasks/store.ts';
import { placeOfRepository } from '../place.ts';

/** Makes the issue of a task that is to have one; looked up first, because the answer to its creation may get lost. */
export async function makeIssue(app: App, em: EntityManager, task: TaskView): Promise<void> {
  if (!task.wantsIssue || task.issueNumber !== null || task.repositoryId === null) return;
  const place = await placeOfRepository(app, task.repositoryId);
  if (place === undefined) return;
  const { octokit, name } = place;
  const marker = `<!-- deckhand:task ${task.id} -->`;
  const bot = await app.github?.bot();
  const since = new Date(task.createdAt.getTime() - 60_000).toISOString();
  const recent = { ...name, state: 'all' as const, since, per_page: 100 };
  const [found] = await octokit.paginate('GET /repos/{owner}/{repo}/issues', recent, ({ data }, done) => {
    const own = data.filter((issue) => issue.body?.startsWith(marker) && issue.user?.id === bot?.id);
    if (own.length > 0) done();
    return own;
  });
  const prefix = app.config.COMMAND_PREFIX;
  const { number, html_url } =
    found ??
    (
      await octokit.request('POST /repos/{owner}/{repo}/issues', {
        ...name,
        title: harmlessLine(task.title, 200, prefix),
        body: `${marker}\n${harmless(task.description, prefix).slice(0, 60_000)}`,
      })
    ).data;
  await em.update(
    Tasks,
    { id: task.id },
    { issueRepositoryId: place.repository.id, issueNumber: number, issueUrl: html_url, wantsIssue: false },
  );
}
