import type { RunBudget } from '../../domain/budget.ts';
import type { Failure } from '../../domain/run.ts';
import type { Priority, TaskStatus } from '../../domain/task.ts';
import { flag, json, key, madeNow, maybeText, maybeTime, table, text, whole } from './table.ts';

export interface TaskRow {
  id: string;
  projectId: string;
  title: string;
  description: string;
  status: TaskStatus;
  /** Of the queued runs of a project, those of the most urgent tasks begin first. */
  priority: Priority;
  owner: string | null;
  repositoryId: string | null;
  parentId: string | null;
  sprintId: string | null;
  splitByAgent: boolean;
  branchName: string | null;
  /** The branch from which it starts and into which it goes; null for that of the repository. */
  base: string | null;
  issueRepositoryId: string | null;
  issueNumber: number | null;
  issueUrl: string | null;
  /** What the issue said when it was last read; null while that is unknown. */
  issueTitle: string | null;
  issueBody: string | null;
  /** The type of the issue and the logins of its assignees, as GitHub showed them last. */
  issueType: string | null;
  issueAssignees: string[];
  /** The repositories whose content its title and description may repeat, even if its issue has gone. */
  textRepositoryIds: string[];
  /** Whether an issue should be created for the task. */
  wantsIssue: boolean;
  /** Whether its agent proposes a plan first; null for the setting of the repository. */
  planFirst: boolean | null;
  failure: Failure | null;
  /** The limits that people set for each run of the task; null when there are none. */
  budget: RunBudget | null;
  /** Since when the task has its status. */
  statusSince: Date;
  doneAt: Date | null;
  createdBy: string | null;
  /**
   * The users who wrote the task, or who added it to a sprint. Their rights count in runs that nobody started.
   */
  directedBy: string[];
  /** When its title or description was rewritten last, and by which user; null if that has not happened. */
  rewrittenAt: Date | null;
  rewrittenBy: string | null;
  /** When a person last changed something about its next run, such as its description or its budget; null if that has not happened. */
  editedAt: Date | null;
  /** It stands for what agents do for a pull request of somebody else. No list shows it. */
  hidden: boolean;
  /** The task whose merged pull requests this one reverts. */
  undoOf: string | null;
  /** The member who looks after it; null while nobody does. */
  responsible: string | null;
  /** Whether a person chose them; otherwise it is whoever started the task last. */
  responsibleChosen: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** What the views of a task have of its row. */
export type KnownTaskRow = Omit<
  TaskRow,
  'issueTitle' | 'issueBody' | 'textRepositoryIds' | 'editedAt' | 'rewrittenAt' | 'rewrittenBy' | 'responsibleChosen'
>;

export const Tasks = table<TaskRow>('tasks', {
  id: key(),
  projectId: text(),
  title: text(),
  description: text({ default: '' }),
  status: text(),
  priority: text({ default: 'normal' }),
  owner: maybeText(),
  repositoryId: maybeText(),
  parentId: maybeText(),
  sprintId: maybeText(),
  splitByAgent: flag(false),
  branchName: maybeText(),
  base: maybeText(),
  issueRepositoryId: maybeText(),
  issueNumber: whole({ nullable: true }),
  issueUrl: maybeText(),
  issueTitle: maybeText(),
  issueBody: maybeText(),
  issueType: maybeText(),
  issueAssignees: json({ default: [] }),
  textRepositoryIds: json({ default: [] }),
  wantsIssue: flag(false),
  planFirst: { type: 'boolean', nullable: true },
  failure: json({ nullable: true }),
  budget: json({ nullable: true }),
  statusSince: madeNow(),
  doneAt: maybeTime(),
  createdBy: maybeText(),
  directedBy: json({ default: [] }),
  rewrittenAt: maybeTime(),
  rewrittenBy: maybeText(),
  editedAt: maybeTime(),
  hidden: flag(false),
  undoOf: maybeText(),
  responsible: maybeText(),
  responsibleChosen: flag(false),
  createdAt: madeNow(),
  updatedAt: madeNow(),
});

/** The repositories of a task `o`: its own, that of its issue, and those whose content its text may repeat; an array of ids in SQL. */
export const placesOfTask = `array_remove(array[o.repository_id, o.issue_repository_id] ||
  array(select jsonb_array_elements_text(o.text_repository_ids)), null)`;

/** The dependencies between tasks. */
export interface TaskDependencyRow {
  taskId: string;
  dependsOnId: string;
}
export const TaskDependencies = table<TaskDependencyRow>('task_dependencies', {
  taskId: key(),
  dependsOnId: key(),
});

export interface HandoffRow {
  id: string;
  taskId: string;
  runId: string;
  summary: string;
  nextSteps: string[];
  createdAt: Date;
}
export const Handoffs = table<HandoffRow>('handoffs', {
  id: key(),
  taskId: text(),
  runId: text(),
  summary: text(),
  nextSteps: json({ default: [] }),
  createdAt: madeNow(),
});

export type PullStatus = 'draft' | 'open' | 'merged' | 'closed';
export interface PullRequestRow {
  taskId: string;
  repositoryId: string;
  number: number;
  url: string;
  status: PullStatus;
  headBranch: string;
  /** The branch into which we opened or retargeted it; null for the default branch of then. */
  baseBranch: string | null;
  /** The branch into which somebody merged it on GitHub, if that is not the one that was agreed. */
  mergedElsewhere: string | null;
  headSha: string;
  /** When GitHub first showed us this head after another one, by GitHub's clock. */
  headSince: Date;
  /** Our commit that may not be merged: not all checks passed on it, or it belongs into a draft. Any other head may. */
  unreadySha: string | null;
  /** Earlier commits of that kind, kept by a trigger. No branch of the repository may be merged with one of them as its head. */
  unreadyBefore: string[];
  additions: number;
  counts: boolean;
  mergeableAsks: number;
  createdAt: Date;
  mergedAt: Date | null;
}
export const PullRequests = table<PullRequestRow>('pull_requests', {
  taskId: text(),
  repositoryId: key(),
  number: whole({ primary: true }),
  url: text(),
  status: text(),
  headBranch: text(),
  baseBranch: maybeText(),
  mergedElsewhere: maybeText(),
  headSha: text(),
  headSince: madeNow(),
  unreadySha: maybeText(),
  unreadyBefore: json({ default: [] }),
  additions: whole({ default: 0 }),
  counts: flag(true),
  mergeableAsks: whole({ default: 0 }),
  createdAt: madeNow(),
  mergedAt: maybeTime(),
});
