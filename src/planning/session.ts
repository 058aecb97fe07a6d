import type { Step, WizardStatus } from '../domain/wizard.ts';

export interface Prd {
  title: string;
  markdown: string;
}
export interface Plan {
  phases: { name: string; goal: string; reason: string }[];
}
export interface PlannedTask {
  ref: string;
  title: string;
  description: string;
  owner: string | null;
  /** Why this owner fits, in the model's words. */
  ownerReason: string | null;
  /** Null for the first repository of the session. */
  repositoryId: string | null;
  dependsOn: string[];
}
/** The sprint of a finalized session, with its tasks. */
export interface PlannedSprint {
  sprint: { id: string; name: string };
  tasks: { id: string; title: string }[];
}

/** The parts of a plan that exist. */
export interface Parts {
  prd: Prd | null;
  plan: Plan | null;
  tasks: PlannedTask[] | null;
}

export interface Session extends Parts {
  id: string;
  projectId: string;
  /** The repositories that still exist, in the order in which they were given. */
  repositoryIds: string[];
  /** How many repositories were given. */
  repositoryCount: number;
  goal: string;
  status: WizardStatus;
  steps: Step[];
  /** Each part as it was before its last change. */
  previous: Partial<Parts>;
  /** The change that a comment asked for and that is not yet written. */
  wish: string | null;
  repositoryNotes: string | null;
  result: PlannedSprint | null;
  sprintId: string | null;
  issueRepositoryId: string | null;
  issueNumber: number | null;
  createdBy: string | null;
  /** The users whose words it follows. */
  directedBy: string[];
  /** The person who changed it last; null if the service did, or nobody since it began. */
  updatedBy: { id: string; login: string } | null;
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** What a step of planning needs to know of a session, which may not be stored yet. */
export type Draft = Pick<
  Session,
  | 'projectId'
  | 'repositoryIds'
  | 'repositoryCount'
  | 'issueRepositoryId'
  | 'issueNumber'
  | 'directedBy'
  | 'goal'
  | 'steps'
  | 'prd'
  | 'plan'
  | 'tasks'
  | 'previous'
  | 'repositoryNotes'
>;

/** An entry in the list of a project's sessions. */
export interface SessionEntry
  extends Pick<
    Session,
    'id' | 'status' | 'goal' | 'repositoryIds' | 'sprintId' | 'updatedBy' | 'createdAt' | 'updatedAt'
  > {
  title: string | null;
  createdBy: { id: string; login: string } | null;
}
