/**
 * The payload of each job. It names what to look at and contains no state, because the state may have changed when a
 * worker claims the job. How each job is handled and retried is declared in jobs.ts.
 */
export interface Jobs {
  /** Handle a stored webhook delivery. `account` is the id of the installation that it is for, if known. */
  delivery: { guid: string; account?: string | undefined };
  /** End the waits that are over, then work on runs until none can be claimed. */
  run: Record<string, never>;
  /** Continue a task whose subtasks are done. */
  continue: { taskId: string };
  /**
   * Make GitHub show the task's current state. With `recheck`, first read what GitHub shows, because somebody may have
   * changed it.
   */
  mirror: { taskId: string; recheck: boolean };
  /** Remove from GitHub what a deleted task shows on an issue or pull request. With number 0, only its branch. */
  tidy: { taskId: string; repositoryId: string; number: number };
  /** Start the tasks of the project's active sprint that can start now. */
  sprint: { projectId: string };
  /** Make the task of an automation whose time has come. */
  automation: { automationId: string };
  /** Let a model improve the report of a completed sprint. */
  digest: { sprintId: string };
  /** Let a model word the suggestions for an agent, from the evidence that the user can see. */
  suggestions: { agentId: string; userId: string; version?: number | undefined };
  /** Make GitHub's milestones show the current state of a project's sprints. */
  milestones: { projectId: string };
  /** Compare a project with GitHub, because events may have been lost. */
  compare: { projectId: string };
  /**
   * Update a plan in its issue. With `goesOn`, also ask the next question or write the missing parts. `deletedFrom` is the
   * issue of a plan that was deleted.
   */
  plan: {
    projectId: string;
    sessionId: string;
    goesOn: boolean;
    deletedFrom?: { repositoryId: string; number: number };
  };
  /** Stop a run of a sprint that has ended. */
  cancel: { taskId: string; runId: string };
  /**
   * Open a pull request with the requirements of a plan, which the user has finalized, in the documentation repository.
   * Jobs of earlier versions have no user.
   */
  prd: { projectId: string; sessionId: string; userId?: string };
  /**
   * Try set-up and checks of a repository without an agent; runs of the kind `trial` belong to `agentTrial`. Jobs of earlier
   * versions do not say who started it.
   */
  trial: { trialId: string; startedBy?: string };
  /**
   * Tell the issue that asked for a trial how it ended. `hadSecrets` says whether the repository had environment secrets when
   * the trial ran.
   */
  trialAnswer: { trialId: string; hadSecrets?: boolean };
  /** Queue the next runs of a trial of an agent, or end it. */
  agentTrial: { projectId: string; agentTrialId: string };
  /** Read a pull request again from GitHub. */
  pull: { repositoryId: string; number: number };
  /**
   * Review a pull request again, because it got newer commits. `after` is the run whose review was not posted.
   */
  review: { repositoryId: string; number: number; after: string };
  /** Prove a pull request again, because its base branch has taken in commits of it, or because it had to wait. */
  proof: { repositoryId: string; number: number; isOfStranger?: boolean };
  /** Show again what is proved about a commit, because the pull requests that have it as their head have changed. */
  proofCheck: { repositoryId: string; headSha: string };
  /** Read the diff of a task again, because its pull request has another head or another base. */
  diff: { repositoryId: string; number: number };
  /** Find out with which other open pull requests one collides, because its head has changed. */
  collisions: { repositoryId: string; number: number; isOfStranger?: boolean };
  /** Send what a webhook of a project is to get. */
  webhook: { webhookId: string; projectId: string };
  /** Send a person what they have to get by mail now. */
  mail: { userId: string };
  /** Ask GitHub to deliver failed webhooks again. */
  redeliver: Record<string, never>;
  /** Repair what no event reported: expired leases, unhandled deliveries, unknown installations. Delete old rows. */
  sweep: Record<string, never>;
}

export type JobName = keyof Jobs;

/** How the queue treats the jobs of one name. */
export interface JobPolicy {
  /**
   * Whether a job that waits stands for all that are sent with its key; while it runs, another one may be added, because the
   * state may change. If false, a job with a key has the key until it is done, its retries included.
   */
  once: boolean;
  /** How many times a failed job is retried. */
  retries: number;
}

/** What a process needs to work on the jobs of one name. */
export interface Worker<N extends JobName> {
  /** Number of jobs that this process handles at the same time. */
  concurrency: number;
  /** At most this many of them belong to one tenant, so that a tenant whose host is silent cannot hold all. */
  mostOfTenant?: number;
  /** `traceparent` is the span in which the job was sent, if that belongs to a trace. */
  handle(data: Jobs[N], traceparent?: string): Promise<void>;
}

export type JobPolicies = { [N in JobName]: JobPolicy };
export type Workers = { [N in JobName]: Worker<N> };
