/** Every job and what it carries: the place to look at, never the state (DESIGN, idea 3). */
export interface Jobs {
  /** A stored webhook delivery is to be handled. */
  delivery: { guid: string };
  /** A run may be waiting; whoever takes this job claims the oldest that may run. */
  run: Record<string, never>;
  /** A task's subtasks are done; its agent goes on. */
  continue: { taskId: string };
  /** What GitHub shows of a task may differ from what it should; `recheck`: because somebody changed it there. */
  mirror: { taskId: string; recheck: boolean };
  /** A task of the project's active sprint may be able to start by itself. */
  sprint: { projectId: string };
  /** A completed sprint's report may be told better by a model. */
  digest: { sprintId: string };
  /** What GitHub shows of sprints may differ from what it should. */
  milestones: Record<string, never>;
  /** A plan may look different in its issue by now; `goesOn`: what is not written yet is to be written. */
  plan: { projectId: string; sessionId: string; goesOn: boolean };
  /** A run of an ended sprint is to stop. */
  cancel: { taskId: string; runId: string };
  /** The requirements of a finalized plan go to the documentation repository. */
  prd: { projectId: string; sessionId: string };
  /** What a pull request is on GitHub may have changed. */
  pull: { repositoryId: string; number: number };
  /** Deliveries that failed are asked for again. */
  redeliver: Record<string, never>;
  /** Looks for what fell by the wayside: lapsed leases, unhandled deliveries, installations nobody told us of. */
  sweep: Record<string, never>;
}

export type JobName = keyof Jobs;

/** Runs are taken oldest first by a claim in SQL; the others by pg-boss. `once`: one queued job per key is enough. */
export const queues: Record<JobName, { once: boolean; retries: number }> = {
  delivery: { once: false, retries: 6 },
  run: { once: false, retries: 0 },
  continue: { once: true, retries: 5 },
  mirror: { once: true, retries: 10 },
  sprint: { once: true, retries: 5 },
  digest: { once: false, retries: 2 },
  milestones: { once: true, retries: 10 },
  plan: { once: true, retries: 6 },
  cancel: { once: false, retries: 6 },
  prd: { once: true, retries: 5 },
  pull: { once: true, retries: 5 },
  redeliver: { once: true, retries: 0 },
  sweep: { once: true, retries: 0 },
};
