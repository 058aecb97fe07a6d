import type { EntityManager } from 'typeorm';
import { remedyFor } from '../domain/remedies.ts';
import type { Failure } from '../domain/run.ts';
import { taskPage } from '../domain/task-page.ts';
import { costOfSprint, type DigestTask, insertDigest, listDigestTasks } from './digest-store.ts';
import type { SprintView } from './store.ts';

/**
 * Stores the report of a sprint: what was done, what was not and why, and what it cost. Needs no model. The links to
 * tasks begin with `baseUrl`.
 */
export async function storeDigest(
  em: EntityManager,
  sprint: SprintView,
  unfinished: string[],
  baseUrl: string,
): Promise<void> {
  const tasks = await listDigestTasks(em, sprint.id);
  const costUsd = await costOfSprint(em, sprint);
  await insertDigest(em, {
    sprintId: sprint.id,
    markdown: report(sprint, tasks, costUsd, baseUrl),
    completed: tasks.filter((t) => t.isDone).map((t) => t.id),
    carriedOver: unfinished,
    failed: tasks.flatMap(({ id, failure, isDone }) =>
      failure === null || isDone ? [] : [{ taskId: id, category: failure.category, message: failure.message }],
    ),
    costUsd,
  });
}

function report(sprint: SprintView, tasks: DigestTask[], cost: number, baseUrl: string): string {
  const link = ({ id, title }: DigestTask) => `[${title.replace(/[\\[\]]/g, '\\$&')}](${taskPage(baseUrl, id)})`;
  const done = tasks.filter((t) => t.isDone);
  const open = tasks.filter((t) => !t.isDone);
  const failed = open.filter((t) => t.failure !== null);
  const list = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : [`## ${title}`, '', ...lines.map((line) => `- ${line}`), ''];
  return [
    `# ${sprint.name}`,
    '',
    ...(sprint.goal === '' ? [] : [sprint.goal, '']),
    `${done.length} of ${tasks.length} tasks done. The runs cost $${cost.toFixed(2)}.`,
    '',
    ...list('Done', done.map(link)),
    ...list('Carried over', open.map(link)),
    ...list(
      'Failed',
      failed.map((t) => `${link(t)}: ${t.failure?.message}`),
    ),
    ...list('Next steps', [...new Set(failed.map((t) => remedyFor(t.failure as Failure)))]),
  ]
    .join('\n')
    .trimEnd();
}
