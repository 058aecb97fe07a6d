import type { EntityManager } from 'typeorm';
import { listProjectRepositories } from '../repositories/store.ts';
import { listEditors } from './editors/store.ts';
import { currentStep } from './operations.ts';
import { outlookOf } from './outlook.ts';
import type { PlannedTask, Session, SessionEntry } from './session.ts';

/** Converts a session to the form that the API returns. */
export async function viewSession(em: EntityManager, session: Session) {
  const { id, createdBy: _, previous, ...shown } = session;
  const { estimates, doesNotFit } = await outlookOf(em, session);
  const tasks = session.tasks && (await withConnected(em, session.projectId, session.tasks));
  return {
    ...shown,
    sessionId: id,
    editors: await listEditors(em, id),
    repositoryId: session.repositoryIds[0] ?? null,
    currentStep: currentStep(session) ?? null,
    answers: session.steps.flatMap(({ id: stepId, question, options, answer }) =>
      answer === null ? [] : [{ stepId, question, options, ...answer }],
    ),
    tasks:
      tasks?.map((task) => {
        const estimate = estimates.get(task.ref);
        return estimate === undefined ? task : { ...task, estimate };
      }) ?? null,
    // Without estimates it is unknown what fits.
    ...(estimates.size === 0 ? {} : { doesNotFit }),
    previous: { prd: previous.prd ?? null, plan: previous.plan ?? null, tasks: previous.tasks?.map(complete) ?? null },
  };
}

/** Converts an entry of the list of sessions. */
export function viewEntry({ id, ...entry }: SessionEntry) {
  return { ...entry, sessionId: id, repositoryId: entry.repositoryIds[0] ?? null };
}

/** Returns planned tasks without repositories that are no longer connected to the project. */
export async function withConnected(
  em: EntityManager,
  projectId: string,
  tasks: PlannedTask[],
): Promise<PlannedTask[]> {
  const known = new Set((await listProjectRepositories(em, projectId)).map(({ id }) => id));
  return tasks.map(complete).map((task) => ({
    ...task,
    repositoryId: task.repositoryId !== null && known.has(task.repositoryId) ? task.repositoryId : null,
  }));
}

/** Tasks that were planned before tasks had repositories lack these fields. */
function complete(task: PlannedTask): PlannedTask {
  return { ...task, ownerReason: task.ownerReason ?? null, repositoryId: task.repositoryId ?? null };
}
