/** Every job and its data: what to look at, never the state itself, which may have changed when the job is taken. */
export interface Jobs {
  /** Handle a stored webhook delivery. */
  delivery: { guid: string };
  /** A run may be waiting. The handler claims the oldest one that may start. */
  run: Record<string, never>;
  /** A task's subtasks are done. Continue the task. */
  continue: { taskId: string };
  /** GitHub may show an old state of a task. */
  mirror: { taskId: string };
  /** A task of the project's active sprint may be ready to start automatically. */
  sprint: { projectId: string };
  /** Let a model write the summary of a completed sprint. */
  digest: { sprintId: string };
  /** GitHub may show old milestones of sprints. */
  milestones: Record<string, never>;
  /** GitHub may show an old state of a plan in its issue. With `goesOn`, write the parts that are missing. */
  plan: { projectId: string; sessionId: string; goesOn: boolean };
  /** Cancel a run of a sprint that has ended. */
  cancel: { taskId: string; runId: string };
  /** Write the requirements of a finalized plan to the documentation repository. */
  prd: { projectId: string; sessionId: string };
  /** The state of a pull request on GitHub may have changed. */
  pull: { repositoryId: string; number: number };
  /** Ask GitHub to send failed deliveries again. */
  redeliver: Record<string, never>;
  /** Find what was missed: expired leases, unhandled deliveries, installations without a webhook. */
  sweep: Record<string, never>;
}

export type JobName = keyof Jobs;

/** `once`: at most one waiting job per key. `retries`: attempts after a failure. A failed run is not a failed job. */
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
