import type { App } from '../../app.ts';
import type { Forecast } from '../../domain/forecast/forecast.ts';
import { joinParts, listPart, textPart } from '../../domain/text/description-parts.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { burndownOf, metricsOf } from '../figures-store.ts';
import { forecastOf } from '../forecast.ts';
import type { SprintView } from '../store.ts';
import { type ChatTask, findChatDigest, listCarriedIn, listChatTasks } from './facts-store.ts';

/** At most this many tasks, handoffs, tasks carried over, and days of the burndown. */
const maxTasks = 100;
const maxHandoffs = 20;
const maxCarried = 50;
const maxDays = 60;
/** Characters of each text. */
const goalChars = 5000;
const digestChars = 8000;
const handoffChars = 800;

/** Describes a sprint for a model that answers questions about it. Every part is bounded. */
export async function describeSprint(app: App, sprint: SprintView): Promise<string> {
  const em = app.db.manager;
  const { forecast } = await forecastOf(em, sprint);
  const tasks = await listChatTasks(em, sprint.id, maxTasks);
  const digest = await findChatDigest(em, sprint.id, maxCarried);
  const more = sprint.taskCount > tasks.length ? ` It has ${sprint.taskCount} tasks; those listed changed last.` : '';
  return joinParts([
    `# The sprint: ${oneLine(sprint.name, 200)}\nStatus: ${sprint.status}, ${sprint.startDay} to ${sprint.endDay}.${more}`,
    textPart('Goal', sprint.goal, goalChars),
    `## Metrics\n${JSON.stringify(await metricsOf(em, sprint))}`,
    `## Forecast\n${forecastText(forecast)}`,
    `## Burndown\n${JSON.stringify((await burndownOf(em, sprint)).slice(-maxDays))}`,
    listPart('Tasks', tasks, maxTasks, taskLine),
    listPart(
      'What the latest run of each task left for the next',
      tasks.filter(({ handoff }) => handoff !== null),
      maxHandoffs,
      ({ id, handoff }) => `${id}: ${handoff}`,
      handoffChars,
    ),
    listPart(
      'Carried over from earlier sprints',
      await listCarriedIn(em, sprint.id, maxCarried),
      maxCarried,
      ({ id, title, from }) => `${id} from "${from}": ${title}`,
    ),
    listPart(
      'Carried over to later sprints or the backlog',
      digest?.carriedOut ?? [],
      maxCarried,
      ({ id, title }) => `${id}: ${title}`,
    ),
    textPart('Digest', digest?.markdown ?? '', digestChars),
  ]);
}

function forecastText({ p50, p80, p95, reason }: Forecast): string {
  if (reason !== null) return `None. ${reason}`;
  const [half, most, nearly] = [p50, p80, p95].map((at) => at?.toISOString());
  return `The open tasks will be done with a probability of 50 % by ${half}, of 80 % by ${most}, and of 95 % by ${nearly}.`;
}

function taskLine({ id, title, status, owner, issueNumber, failure, waits, dependsOn, pulls }: ChatTask): string {
  return [
    `${id} ${status}: ${oneLine(title, 200)}`,
    owner === null ? 'no owner' : `owner ${owner}`,
    issueNumber === null ? '' : `issue #${issueNumber}`,
    waits === null ? '' : `needs a person: ${waits}`,
    dependsOn.length === 0 ? '' : `waits for ${dependsOn.join(', ')}`,
    pulls.length === 0 ? '' : `pull requests ${pulls.join(', ')}`,
    failure === null ? '' : `FAILED ${failure.category}: ${failure.message}`,
  ]
    .filter(Boolean)
    .join('; ');
}
