import { type Asking, converseInChat } from '../../agents/chat/converse.ts';
import { findBuiltInAgent } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { findPrimary } from '../../repositories/store.ts';
import type { SprintView } from '../store.ts';
import { describeSprint } from './describe-sprint.ts';

/**
 * Asks the project's Software Architect about a sprint. The prompt contains its tasks with their owners, pull requests and
 * handoffs, the figures, the forecast, the digest, and what was carried over.
 * @throws AppError 502, 503
 */
export async function chatAboutSprint(app: App, sprint: SprintView, asking: Asking): Promise<string> {
  const em = app.db.manager;
  return converseInChat(app, {
    about: { sprintId: sprint.id },
    projectId: sprint.projectId,
    agent: (await findBuiltInAgent(em, sprint.projectId, 'architect')) ?? undefined,
    context: await describeSprint(app, sprint),
    reads: { repository: await findPrimary(em, sprint.projectId), branch: null },
    ...asking,
  });
}
