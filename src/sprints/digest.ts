import type { EntityManager } from 'typeorm';
import type { Forecast } from '../domain/forecast/forecast.ts';
import { remedyFor } from '../domain/remedies.ts';
import type { Failure } from '../domain/run.ts';
import { taskPage } from '../domain/task-page.ts';
import { costOfSprint, type DigestTask, type DigestView, insertDigest, listDigestTasks } from './digest-store.ts';
import type { SprintView } from './store.ts';

interface Ending {
  sprint: SprintView;
  unfinished: string[];
  /** For the unfinished tasks, made before the sprint was completed. */
  forecast: Forecast;
}

/**
 * Stores the facts about a sprint: what was done, what was not and why, what it cost, and how much longer it would have
 * taken. Needs no model. The links to tasks begin with `baseUrl`.
 */
export async function storeDigest(em: EntityManager, ending: Ending, baseUrl: string): Promise<void> {
  const { sprint, unfinished } = ending;
  const tasks = await listDigestTasks(em, sprint.id);
  const costUsd = await costOfSprint(em, sprint);
  await insertDigest(em, {
    sprintId: sprint.id,
    markdown: report(ending, tasks, costUsd, baseUrl),
    completed: tasks.filter((t) => t.isDone).map((t) => t.id),
    carriedOver: unfinished,
    failed: tasks.flatMap(({ id, failure, isDone }) =>
      failure === null || isDone ? [] : [{ taskId: id, category: failure.category, message: failure.message }],
    ),
    costUsd,
  });
}

function report({ sprint, forecast }: Ending, tasks: DigestTask[], cost: number, baseUrl: string): string {
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
    ...(open.length === 0 ? [] : [forecastText(forecast), '']),
    ...list(
      'Failed',
      failed.map((t) => `${link(t)}: ${t.failure?.message}`),
    ),
    ...list('Next steps', [...new Set(failed.map((t) => remedyFor(t.failure as Failure)))]),
  ]
    .join('\n')
    .trimEnd();
}

/** Says when the unfinished tasks would have been done if the sprint had gone on. */
function forecastText({ p50, p80, p95, reason }: Forecast): string {
  if (p50 === null || p80 === null || p95 === null) return `When they would have been done is unknown. ${reason}`;
  const [likely, safe, surest] = [p50, p80, p95].map((time) => time.toISOString().slice(0, 10));
  return `Had the sprint gone on, they would have been done by ${likely} with a probability of 50 %, by ${safe} with 80 % and by ${surest} with 95 %.`;
}

/**
 * Returns a digest as people read it: the facts, then what the model says about them. Each line of the model is quoted,
 * so that nothing it writes can be taken for a fact of ours.
 */
export function digestText({ markdown, words }: Pick<DigestView, 'markdown' | 'words'>): string {
  if (words === '') return markdown;
  const quoted = words.split(/\r\n?|[\n\u2028\u2029]/).map((line) => `> ${line}`.trimEnd());
  return `${markdown}\n\n## What the model says\n\nA model wrote this about the facts above. It can be wrong.\n\n${quoted.join('\n')}`;
}
