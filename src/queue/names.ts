/**
 * The payload of each job. It names what to look at and never carries a state, because the state may have changed when the
 * job is taken. How each job is handled and retried is declared in jobs.ts.
 */
export interface Jobs {
  /** Handle a stored webhook delivery. */
  delivery: { guid: string };
  /** Claim the oldest run that may start, if there is one. */
  run: Record<string, never>;
  /** Continue a task whose subtasks are done. */
  continue: { taskId: string };
  /** Make GitHub show the task as it is; `recheck`: read first what it shows, because somebody may have changed it. */
  mirror: { taskId: string; recheck: boolean };
  /** Start the tasks of the project's active sprint that can start now. */
  sprint: { projectId: string };
  /** Let a model improve the report of a completed sprint. */
  digest: { sprintId: string };
  /** Make GitHub's milestones show the sprints as they are. */
  milestones: Record<string, never>;
  /** Update a plan in its issue; `goesOn`: also write the parts of it that are missing. */
  plan: { projectId: string; sessionId: string; goesOn: boolean };
  /** Stop a run of a sprint that has ended. */
  cancel: { taskId: string; runId: string };
  /** Propose the requirements of a finalized plan to the documentation repository. */
  prd: { projectId: string; sessionId: string };
  /** Read a pull request again from GitHub. */
  pull: { repositoryId: string; number: number };
  /** Ask GitHub to deliver failed webhooks again. */
  redeliver: Record<string, never>;
  /** Repair what nobody reported: lapsed leases, unhandled deliveries, unknown installations. Remove old rows. */
  sweep: Record<string, never>;
}

export type JobName = keyof Jobs;

/** How the queue treats the jobs of one name. */
export interface JobPolicy {
  /** One queued job per key is enough. */
  once: boolean;
  /** How often a job that failed is tried again. */
  retries: number;
}

/** What a process needs to work on the jobs of one name. */
export interface Worker<N extends JobName> {
  /** Jobs this process works on at once. */
  concurrency: number;
  handle(data: Jobs[N]): Promise<void>;
}

export type JobPolicies = { [N in JobName]: JobPolicy };
export type Workers = { [N in JobName]: Worker<N> };
