import type { AgentRow } from '../db/tables/project.ts';
import type { Proof } from '../domain/proof/proof.ts';
import type { Failure } from '../domain/run.ts';
import type { RefusedHost } from '../environment/equipment.ts';
import type { Environment } from '../environment/prepare.ts';
import type { RepositorySettings } from '../repositories/settings/repository-settings.ts';
import type { AboutRun } from './agent/about-run.ts';
import type { CheckResult } from './agent/ending/ending.ts';
import type { Handoff } from './agent/handoff.ts';
import type { Planning } from './agent/planning.ts';
import type { Journal } from './lease/journal.ts';
import type { Patience } from './publish/patience.ts';
import type { Workspace } from './workspace/workspace.ts';

/** One repository that a run has open, with everything needed to change it, check it and publish the change. */
export interface Work extends Workspace, AboutRun {
  agent: AgentRow;
  /** When the token for git expires; undefined for a token that does not expire. */
  tokenEndsAt: Date | undefined;
  /** The other repositories that the run has opened. Empty in the `Work` of those repositories. */
  others: Work[];
  journal: Journal;
  /** Retries steps that need the git host or GitHub. */
  patience: Patience;
  /** Aborted when this worker no longer holds the run. */
  signal: AbortSignal;
  /** The .deckhand.yml of the base branch. */
  settings: RepositorySettings;
  /** Whether a person allowed set-up of the change that is judged to use the network of set-up. */
  isSetupApproved?: boolean;
  /** What set-up prepared for the agent and the checks. */
  environment: Environment;
  /** The hosts that set-up and the agent tried to reach and may not. */
  refused(): RefusedHost[];
  /** Returns what the next run should know; undefined when the model does not say. Set once the conversation begins. */
  handoff?: (failure: Failure) => Promise<Handoff | undefined>;
  /** Whether the run still has to propose a plan. Set once the conversation begins. */
  planning?: Planning;
  /** The changed files that the approved plan does not name; undefined without a plan. */
  unplanned?: string[];
  /** What is known about the files to push, once the agent has finished. */
  evidence?: TreeEvidence;
}

/** What is known about one tree of a repository. For any other tree it is void. */
export interface TreeEvidence {
  tree: string;
  /** The results of the repository's checks. */
  checks: CheckResult[];
  /** What the tests of the change prove; missing when the run changed nothing here. */
  proof?: Proof | undefined;
}

/** Returns the repository of the task, then the others in the order in which they were opened. */
export function allWorks(work: Work): Work[] {
  return [work, ...work.others];
}
