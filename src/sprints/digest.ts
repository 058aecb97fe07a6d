import type { EntityManager } from 'typeorm';
import { remedyFor } from '../domain/remedies.ts';
import type { Failure } from '../domain/run.ts';
import { taskPage } from '../domain/task-page.ts';
import { storableJson, storableText } from '../domain/text/storable.ts';
import { notFound } from '../errors.ts';
import type { SprintView } from './store.ts';

/** What came of a sprint, told when it was completed. */
export interface DigestView {
  sprintId: string;
  createdAt: Date;
  markdown: string;
  completed: string[];
  carriedOver: string[];
  failed: { taskId: string; category: Failure['category']; message: string }[];
  costUsd: number;
}

interface ToldTask {
  id: string;
  title: string;
  isDone: boolean;
  failure: Failure | null;
}

/** Writes what was done, what was not and why, and what it cost; needs no model. `baseUrl` leads to the tasks' pages. */
export async function insertDigest(
  em: EntityManager,
  sprint: SprintView,
  unfinished: string[],
  baseUrl: string,
): Promise<void> {
  const tasks: ToldTask[] = await em.query(
    `select t.id, t.title, t.status = 'done' as "isDone", t.failure from tasks t where t.sprint_id = $1
     order by t.created_at, t.id`,
    [sprint.id],
  );
  const [{ cost }] = await em.query(
    `select coalesce(sum(r.cost_usd), 0)::float8 as cost from runs r join tasks t on t.id = r.task_id
     where t.sprint_id = $1 and r.created_at >= coalesce($2, r.created_at)`,
    [sprint.id, sprint.startedAt],
  );
  const failed = tasks.flatMap(({ id, failure, isDone }) =>
    failure === null || isDone ? [] : [{ taskId: id, category: failure.category, message: failure.message }],
  );
  await em.query(
    `insert into digests (sprint_id, markdown, completed, carried_over, failed, cost_usd) values ($1, $2, $3, $4, $5, $6)`,
    [
      sprint.id,
      storableText(report(sprint, tasks, cost, baseUrl)),
      storableJson(tasks.filter((t) => t.isDone).map((t) => t.id)),
      storableJson(unfinished),
      storableJson(failed),
      cost,
    ],
  );
}

function report(sprint: SprintView, tasks: ToldTask[], cost: number, baseUrl: string): string {
  const link = ({ id, title }: ToldTask) => `[${title.replace(/[\\[\]]/g, '\\$&')}](${taskPage(baseUrl, id)})`;
  const done = tasks.filter((t) => t.isDone);
  const open = tasks.filter((t) => !t.isDone);
  const failed = open.filter((t) => t.failure !== null);
  const list = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : [`## ${title}`, '', ...lines.map((line) => `- ${line}`), ''];
  return [
    `# ${sprint.name}`,
    '',
    ...(sprint.goal === '' ? [] : [sprint.goal, '']),
    `${done.length} of ${tasks.length} tasks done; the runs cost $${cost.toFixed(2)}.`,
    '',
    ...list('Done', done.map(link)),
    ...list('Carried over', open.map(link)),
    ...list(
      'What failed',
      failed.map((t) => `${link(t)}: ${t.failure?.message}`),
    ),
    ...list('Next steps', [...new Set(failed.map((t) => remedyFor(t.failure as Failure)))]),
  ]
    .join('\n')
    .trimEnd();
}

/** @throws AppError 404 while the sprint is not completed */
export async function getDigest(em: EntityManager, sprintId: string): Promise<DigestView> {
  const rows: DigestView[] = await em.query(
    `select sprint_id as "sprintId", created_at as "createdAt", markdown, completed, carried_over as "carriedOver",
       failed, cost_usd::float8 as "costUsd" from digests where sprint_id = $1`,
    [sprintId],
  );
  if (rows[0] === undefined) throw notFound('Digest of sprint', sprintId);
  return rows[0];
}

export async function setDigestText(em: EntityManager, sprintId: string, markdown: string): Promise<void> {
  await em.query('update digests set markdown = $2 where sprint_id = $1', [sprintId, storableText(markdown)]);
}
