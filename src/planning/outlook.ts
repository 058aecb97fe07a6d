import type { EntityManager } from 'typeorm';
import { whatFits } from '../domain/forecast/capacity.ts';
import { type EstimateInMinutes, inMinutes, roughly } from '../domain/forecast/estimate-text.ts';
import { estimator } from '../domain/forecast/estimates.ts';
import { usualDays } from '../domain/sprint.ts';
import { listFinishedWork } from '../sprints/finished-work-store.ts';
import { countAgents } from '../sprints/forecast-store.ts';
import type { Session } from './session.ts';

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
