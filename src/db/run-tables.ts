import { big, flag, json, key, madeNow, maybeText, maybeTime, table, text, time, whole } from './table.ts';

/** The tasks that a task waits for. */
export interface TaskDependencyRow {
  taskId: string;
  dependsOnId: string;
}
export const TaskDependencies = table<TaskDependencyRow>('task_dependencies', {
  taskId: key(),
  dependsOnId: key(),
});

/** Changes asked of a task, until a run takes them up. */
export interface RevisionRow {
  id: string;
  taskId: string;
  source: 'person' | 'review' | 'checks' | 'conflict';
  cause: string | null;
  text: string;
  askedBy: string | null;
  runId: string | null;
  answeredAt: Date | null;
  createdAt: Date;
}
export const Revisions = table<RevisionRow>('revisions', {
  id: key(),
  taskId: text(),
  source: text(),
  cause: maybeText(),
  text: text(),
  askedBy: maybeText(),
  runId: maybeText(),
  answeredAt: maybeTime(),
  createdAt: madeNow(),
});

/** A run's journal: what it has done outside, so that another worker does not do it again. */
export interface RunStepRow {
  runId: string;
  name: string;
  data: unknown;
  at: Date;
}
export const RunSteps = table<RunStepRow>('run_steps', {
  runId: key(),
  name: key(),
  data: json(),
  at: madeNow(),
});

/** The conversation of a run, turn by turn. */
export interface RunTurnRow {
  runId: string;
  turn: number;
  messages: unknown;
  workspace: Buffer | null;
  at: Date;
}
export const RunTurns = table<RunTurnRow>('run_turns', {
  runId: key(),
  turn: whole({ primary: true }),
  messages: json(),
  workspace: { type: 'bytea', nullable: true },
  at: madeNow(),
});

/** The log of a run, as people see it. */
export interface RunEventRow {
  id: number;
  runId: string;
  at: Date;
  type: string;
  text: string;
  data: unknown;
}
export const RunEvents = table<RunEventRow>('run_events', {
  id: big({ primary: true, generated: true }),
  runId: text(),
  at: madeNow(),
  type: text(),
  text: text(),
  data: json({ default: {} }),
});

/** What a task changed, computed for one commit. */
export interface DiffRow {
  taskId: string;
  branchName: string;
  baseBranch: string;
  headSha: string;
  files: unknown;
  truncated: boolean;
  at: Date;
}
export const Diffs = table<DiffRow>('diffs', {
  taskId: key(),
  branchName: text(),
  baseBranch: text(),
  headSha: text(),
  files: json(),
  truncated: flag(false),
  at: madeNow(),
});

/** Conversations with agents about a task or a sprint. */
export interface ChatMessageRow {
  id: string;
  taskId: string | null;
  sprintId: string | null;
  role: string;
  userId: string | null;
  content: string;
  at: Date;
}
export const ChatMessages = table<ChatMessageRow>('chat_messages', {
  id: key(),
  taskId: maybeText(),
  sprintId: maybeText(),
  role: text(),
  userId: maybeText(),
  content: text(),
  at: time({ default: () => 'clock_timestamp()' }),
});
