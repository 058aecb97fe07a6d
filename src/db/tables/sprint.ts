import type { SprintStatus } from '../../domain/sprint.ts';
import { big, json, key, madeNow, maybeText, maybeTime, table, text, time, whole } from './table.ts';

export interface SprintRow {
  id: string;
  projectId: string;
  name: string;
  goal: string;
  status: SprintStatus;
  startDate: string;
  endDate: string;
  startedBy: string | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
}
export const Sprints = table<SprintRow>('sprints', {
  id: key(),
  projectId: text(),
  name: text(),
  goal: text({ default: '' }),
  status: text(),
  startDate: { type: 'date' },
  endDate: { type: 'date' },
  startedBy: maybeText(),
  createdAt: madeNow(),
  startedAt: maybeTime(),
  endedAt: maybeTime(),
});

/**
 * The history of the tasks in a sprint, from which its figures are computed; `status` is null when a task left the
 * sprint.
 */
export interface SprintHistoryRow {
  id: number;
  sprintId: string;
  taskId: string;
  status: string | null;
  at: Date;
}
export const SprintHistories = table<SprintHistoryRow>('sprint_history', {
  id: big({ primary: true, generated: true }),
  sprintId: text(),
  taskId: text(),
  status: maybeText(),
  at: time({ default: () => 'clock_timestamp()' }),
});

/** The GitHub milestone of a sprint in one repository. */
export interface SprintMilestoneRow {
  repositoryId: string;
  number: number;
  sprintId: string | null;
  shown: string;
}
export const SprintMilestones = table<SprintMilestoneRow>('sprint_milestones', {
  repositoryId: key(),
  number: whole({ primary: true }),
  sprintId: maybeText(),
  shown: text(),
});

/** Reports of completed sprints: facts, and what the model says about them. */
export interface DigestRow {
  sprintId: string;
  createdAt: Date;
  markdown: string;
  words: string;
  completed: unknown;
  carriedOver: unknown;
  failed: unknown;
  costUsd: number;
}
export const Digests = table<DigestRow>('digests', {
  sprintId: key(),
  createdAt: madeNow(),
  markdown: text(),
  words: text({ default: '' }),
  completed: json(),
  carriedOver: json(),
  failed: json(),
  costUsd: big({ type: 'numeric' }),
});

/** Planning sessions, which lead from a goal to a sprint. */
export interface WizardSessionRow {
  id: string;
  projectId: string;
  repositoryId: string | null;
  repositoryIds: unknown;
  createdBy: string | null;
  /** The person who changed the session last; null if the service did. */
  updatedBy: string | null;
  /** The users whose words the plan follows. */
  directedBy: string[];
  goal: string;
  status: string;
  steps: unknown;
  prd: unknown;
  plan: unknown;
  tasks: unknown;
  repositoryNotes: string | null;
  previous: unknown;
  wish: string | null;
  result: unknown;
  sprintId: string | null;
  issueRepositoryId: string | null;
  issueNumber: number | null;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}
export const WizardSessions = table<WizardSessionRow>('wizard_sessions', {
  id: key(),
  projectId: text(),
  repositoryId: maybeText(),
  repositoryIds: json({ default: [] }),
  createdBy: maybeText(),
  updatedBy: maybeText(),
  directedBy: json({ default: [] }),
  goal: text(),
  status: text(),
  steps: json(),
  prd: json({ nullable: true }),
  plan: json({ nullable: true }),
  tasks: json({ nullable: true }),
  repositoryNotes: maybeText(),
  previous: json({ default: {} }),
  wish: maybeText(),
  result: json({ nullable: true }),
  sprintId: maybeText(),
  issueRepositoryId: maybeText(),
  issueNumber: whole({ nullable: true }),
  version: whole({ default: 1 }),
  createdAt: madeNow(),
  updatedAt: madeNow(),
});

/** Who is editing which part of a plan. */
export interface PlanEditorRow {
  sessionId: string;
  userId: string;
  part: string;
  seenAt: Date;
}
export const PlanEditors = table<PlanEditorRow>('plan_editors', {
  sessionId: key(),
  userId: key(),
  part: key(),
  seenAt: madeNow(),
});
