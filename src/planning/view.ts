import type { EntityManager } from 'typeorm';
import { type EstimateInMinutes, estimator, inMinutes, roughly } from '../domain/forecast/estimates.ts';
import { whatFits } from '../domain/forecast/schedule.ts';
import { usualDays } from '../domain/sprint.ts';
import { listProjectRepositories } from '../repositories/store.ts';
import { listFinishedWork } from '../sprints/figures-store.ts';
import { countAgents } from '../sprints/forecast-store.ts';
import { listEditors } from './edit.ts';
import { currentStep } from './operations.ts';
import type { PlannedTask, Session, SessionEntry } from './store.ts';

/** What finished tasks say about the planned ones. Empty until agents have finished enough tasks. */
export interface Outlook {
  /** By the refs of the tasks. */
  estimates: Map<string, EstimateInMinutes>;
  /** The tasks that would be done after the end of the sprint, in the order of the plan. */
  doesNotFit: { ref: string; doneAt: Date; reason: string }[];
}

const dayMs = 86_400_000;

/**
 * Estimates the tasks of a plan, and says which ones do not fit a sprint of the usual length that starts today and in
 * which the agents do nothing else. Once the sprint is created, its own forecast takes over.
 */
export async function outlookOf(em: EntityManager, session: Session, now = new Date()): Promise<Outlook> {
  const { projectId, status, tasks } = session;
  if (tasks === null || status === 'finalized') return { estimates: new Map(), doesNotFit: [] };
  const estimate = estimator(await listFinishedWork(em, projectId));
  const usual = session.repositoryIds[0] ?? session.issueRepositoryId;
  const planned = tasks.map(({ ref, title, repositoryId, owner, dependsOn }) => ({
    id: ref,
    owner,
    dependsOn,
    estimate: estimate({ title, repositoryId: repositoryId ?? usual }),
  }));
  const endsAt = (Math.floor(now.getTime() / dayMs) + usualDays) * dayMs;
  const capacity = { agents: await countAgents(em, projectId), ms: endsAt - now.getTime() };
  return {
    estimates: new Map(planned.flatMap((task) => (task.estimate ? [[task.id, inMinutes(task.estimate)]] : []))),
    doesNotFit: whatFits(planned, capacity).tooLate.map(({ id, doneMs }) => ({
      ref: id,
      doneAt: new Date(now.getTime() + doneMs),
      reason: `Would be done about ${roughly((doneMs - capacity.ms) / 60_000)} after the end of a ${usualDays}-day sprint that starts today.`,
    })),
  };
}

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
