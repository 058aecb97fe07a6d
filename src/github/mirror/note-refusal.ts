import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { wasNoted } from '../../audit/records.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import type { TaskView } from '../../tasks/store.ts';
import { httpStatusOf } from '../app/place.ts';

/** Says in the timeline of a task, once, that GitHub refused something that should show the task there. */
export async function noteRefusal(
  app: App,
  em: EntityManager,
  { id: taskId, projectId }: Pick<TaskView, 'id' | 'projectId'>,
  event: 'issue_refused' | 'comment_refused',
  error: unknown,
): Promise<void> {
  app.log.info({ err: error, taskId }, `GitHub refused something of a task (${event})`);
  if (await wasNoted(em, taskId, `task.${event}`)) return;
  const refusal = `GitHub answered with status ${httpStatusOf(error)}: ${oneLine((error as Error).message, 150)}`;
  await app.audit.noteEvent(em, { taskId, projectId, event, changes: { refusal: [null, refusal] } });
}
