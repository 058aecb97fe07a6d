import type { PullStatus } from '../../db/tables/task.ts';
import type { RunBudget } from '../../domain/budget.ts';
import type { Proof } from '../../domain/proof/proof.ts';
import type { Failure, RunKind, RunStatus } from '../../domain/run.ts';
import type { TaskStatus } from '../../domain/task.ts';
import type { Attention, Plan } from '../../domain/waiting.ts';

/** Everything about a task that the mirror may show. The mirror uses nothing else. */
export interface TaskPicture {
  id: string;
  title: string;
  status: TaskStatus;
  agent: string | null;
  branchName: string | null;
  failure: Failure | null;
  /** What the run waits for; null when it does not wait. */
  attention: (Pick<Attention, 'id' | 'reason' | 'text' | 'options'> & { plan?: Pick<Plan, 'files' | 'checks'> }) | null;
  /** Why the service itself cancelled the run; null when it did not. */
  cancelledBecause: string | null;
  /** What the issue says, if that differs from the task. */
  issueText: { title: string; description: string } | null;
  budget: RunBudget | null;
  notice: string;
  /** How to call the tasks that the notice mentions, by their ids. */
  taskNames: Map<string, string>;
  run: PictureOfRun | null;
  /** Runs before this one, newest first. */
  earlier: PictureOfRun[];
  /** The latest events of the run, oldest first. */
  steps: { at: Date; text: string }[];
  subtasks: { id: string; title: string; status: TaskStatus; issueUrl: string | null; isPrivate: boolean }[];
  pulls: { url: string; number: number; repositoryName: string; status: PullStatus; isPrivate: boolean }[];
  handoff: { summary: string; nextSteps: string[] } | null;
  /** What the tests of the change prove; null while the latest run has no proof. */
  proof: Pick<Proof, 'status' | 'reason'> | null;
  costUsd: number | null;
  taskUrl: string;
  commandPrefix: string;
}

export interface PictureOfRun {
  /** The page on which people watch the run. */
  url: string;
  kind: RunKind;
  /** The turn after which a rewound run goes on. */
  rewoundTurn?: number | null;
  status: RunStatus;
  steps: number;
  startedAt: Date | null;
  finishedAt: Date | null;
  waitedSeconds: number;
  costUsd: number | null;
}
