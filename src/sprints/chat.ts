import { type Asking, converseInChat } from '../agents/chat.ts';
import { findProjectAgent } from '../agents/store.ts';
import type { App } from '../app.ts';
import { fenced } from '../domain/text/sanitize.ts';
import { findPrimary } from '../repositories/store.ts';
import { burndownOf, metricsOf } from './figures-store.ts';
import { listSprintTasks, type SprintView } from './store.ts';

/** The prompt lists at most this many tasks, and covers at most this many days of the burndown. */
const maxTasks = 100;
const maxDays = 60;

/**
 * Asks the project's Software Architect about a sprint. The prompt contains the tasks, failures, metrics and burndown.
 * @throws AppError 502, 503
 */
export async function chatAboutSprint(app: App, sprint: SprintView, asking: Asking): Promise<string> {
  const em = app.db.manager;
  const agent = (await findProjectAgent(em, sprint.projectId, 'Software Architect')) ?? undefined;
  return converseInChat(app, {
    about: { sprintId: sprint.id },
    projectId: sprint.projectId,
    agent,
    context: await describe(app, sprint),
    reads: { repository: await findPrimary(em, sprint.projectId), branch: null },
    ...asking,
  });
}

async function describe(app: App, sprint: SprintView): Promise<string> {
  const em = app.db.manager;
  const tasks = await listSprintTasks(em, { sprintId: sprint.id }, { limit: maxTasks, offset: 0 });
  const lines = tasks.map(
    (t) =>
      `${t.id} ${t.status}: ${t.title}${t.dependsOn.length > 0 ? ` (waits for ${t.dependsOn.join(', ')})` : ''}${t.failure ? ` FAILED ${t.failure.category}: ${t.failure.message}` : ''}`,
  );
  return [
    `# The sprint: ${sprint.name}\nStatus: ${sprint.status}, ${sprint.startDay} to ${sprint.endDay}`,
    sprint.goal === '' ? '' : `## Goal\n${fenced(sprint.goal)}`,
    `## Metrics\n${JSON.stringify(await metricsOf(em, sprint))}`,
    `## Burndown\n${JSON.stringify((await burndownOf(em, sprint)).slice(-maxDays))}`,
    `## Tasks\n${fenced(lines.join('\n'))}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}
