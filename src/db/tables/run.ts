import { type Failure, kindsBehind, liveStatuses, type RunKind, type RunStatus } from '../../domain/run.ts';
import { type Priority, priorities } from '../../domain/task.ts';
import { type WaitReason, waitsForNobody } from '../../domain/waiting.ts';
import { big, flag, json, key, madeNow, maybeText, maybeTime, orderedJson, table, text, time, whole } from './table.ts';

/** SQL: the statuses of runs that have not ended, as a list in parentheses. */
export const liveRun = `(${liveStatuses.map((status) => `'${status}'`).join(', ')})`;

/** SQL: the kinds of runs that let the others of their project go first, as a list in parentheses. Indexes name exactly these. */
export const behindOthers = `(${kindsBehind.map((kind) => `'${kind}'`).join(', ')})`;

/** SQL: the reasons of waits that end without a person, as a list in parentheses. */
export const reasonsForNobody = `(${waitsForNobody.map((reason) => `'${reason}'`).join(', ')})`;

/** SQL: how urgent a run is, from 1. The index `runs_queued_by_priority` has exactly this expression. */
export const urgencyOf = (run: string) => `array_position('{${priorities.join(',')}}'::text[], ${run}.priority)`;

export interface RunRow {
  id: string;
  taskId: string;
  projectId: string;
  agentId: string | null;
  startedBy: string | null;
  /** The service started the run, for `startedBy` if that is not null. Its starters are the directors of the task. */
  isAutomatic: boolean;
  /** The users whose words the run follows; see runs/directors.ts. */
  directedBy: string[];
  kind: RunKind;
  status: RunStatus;
  instructions: string;
  failure: Failure | null;
  steps: number;
  inputTokens: number;
  /** How many of the input tokens the model server read from its cache. */
  cachedInputTokens: number;
  outputTokens: number;
  costUsd: number | null;
  /** The model that answered last; null before its first answer. */
  model: string | null;
  fence: number;
  /** The labels that a worker must have to claim the run, as far as they are known. */
  runsOn: string[];
  /** That of its task. A trigger sets it, and keeps it until the run has ended. */
  priority: Priority;
  /** Numbers the running runs of a project from 1. It means nothing for other runs. */
  slot: number | null;
  leaseUntil: Date | null;
  heartbeatAt: Date | null;
  /** Number of interruptions since the run last made progress. */
  interruptions: number;
  notBefore: Date | null;
  /** What the run waits for, and since when; null when it does not wait. */
  waitId: string | null;
  waitReason: WaitReason | null;
  waitText: string | null;
  waitOptions: string[] | null;
  /** Kept until a worker claims the run again, because its clock stands still until then. */
  waitingSince: Date | null;
  /** When the run continues; null when it waits for a person. */
  resumeAt: Date | null;
  /** How long the run has waited in total. This does not count against its time limit. */
  waitedSeconds: number;
  /** Pauses for the model since the last turn, and the length of all pauses for the model together. */
  modelPauses: number;
  modelPauseSeconds: number;
  /** The host for which the run waits, or waited last; null if its wait ends only at a time. */
  waitHost: string | null;
  /** Pauses for a host since the last turn, and since when no step has succeeded. */
  hostPauses: number;
  hostAwaySince: Date | null;
  /** Why the run pauses before its next turn; null unless somebody asked for it. */
  pauseText: string | null;
  /** The run whose conversation this one continues. */
  continuesRunId: string | null;
  /** The turn of that run, numbered from 1, after which a rewound run goes on; null for a run of another kind. */
  rewoundTurn: number | null;
  /** The span of the trace in which the run was queued; null if tracing was off. */
  traceparent: string | null;
  /** It was asked for a change, and ended without one. */
  changedNothing: boolean;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}
export const Runs = table<RunRow>('runs', {
  id: key(),
  taskId: text(),
  projectId: text(),
  agentId: maybeText(),
  startedBy: maybeText(),
  isAutomatic: flag(false),
  directedBy: json({ default: [] }),
  kind: text(),
  status: text(),
  instructions: text({ default: '' }),
  failure: json({ nullable: true }),
  steps: whole({ default: 0 }),
  inputTokens: big({ default: 0 }),
  cachedInputTokens: big({ default: 0 }),
  outputTokens: big({ default: 0 }),
  costUsd: big({ type: 'numeric', nullable: true }),
  model: maybeText(),
  fence: whole({ default: 0 }),
  runsOn: text({ array: true, default: [] }),
  priority: text({ default: 'normal' }),
  slot: whole({ nullable: true }),
  leaseUntil: maybeTime(),
  heartbeatAt: maybeTime(),
  interruptions: whole({ default: 0 }),
  notBefore: maybeTime(),
  waitId: maybeText(),
  waitReason: maybeText(),
  waitText: maybeText(),
  waitOptions: json({ nullable: true }),
  waitingSince: maybeTime(),
  resumeAt: maybeTime(),
  waitedSeconds: whole({ default: 0 }),
  modelPauses: whole({ default: 0 }),
  modelPauseSeconds: whole({ default: 0 }),
  waitHost: maybeText(),
  hostPauses: whole({ default: 0 }),
  hostAwaySince: maybeTime(),
  pauseText: maybeText(),
  continuesRunId: maybeText(),
  rewoundTurn: whole({ nullable: true }),
  traceparent: maybeText(),
  changedNothing: flag(false),
  createdAt: madeNow(),
  startedAt: maybeTime(),
  finishedAt: maybeTime(),
});

/** Changes requested for a task, until a run handles them. */
export interface RevisionRow {
  id: string;
  taskId: string;
  source: 'person' | 'review' | 'checks' | 'conflict';
  cause: string | null;
  text: string;
  /** The repositories whose content the text may repeat. */
  repositoryIds: string[];
  askedBy: string | null;
  runId: string | null;
  answeredAt: Date | null;
  /** What a person wrote about the whole in the dashboard, the review that shows it on GitHub, and when that was settled. */
  said: string | null;
  githubReviewId: number | null;
  reviewPostedAt: Date | null;
  createdAt: Date;
}
const Revisions = table<RevisionRow>('revisions', {
  id: key(),
  taskId: text(),
  source: text(),
  cause: maybeText(),
  text: text(),
  repositoryIds: json({ default: [] }),
  askedBy: maybeText(),
  runId: maybeText(),
  answeredAt: maybeTime(),
  said: maybeText(),
  githubReviewId: big({ nullable: true }),
  reviewPostedAt: maybeTime(),
  createdAt: madeNow(),
});

/** A run's journal of external effects, so that another worker does not repeat them. */
export interface RunStepRow {
  runId: string;
  name: string;
  data: unknown;
  at: Date;
}
const RunSteps = table<RunStepRow>('run_steps', {
  runId: key(),
  name: key(),
  data: json(),
  at: madeNow(),
});

/** The conversation of a run, one row per turn of the model. */
export interface RunTurnRow {
  runId: string;
  turn: number;
  messages: unknown;
  workspace: Buffer | null;
  at: Date;
  inputTokens: number | null;
  cachedInputTokens: number | null;
  outputTokens: number | null;
  costUsd: number | null;
  learned: unknown;
}
const RunTurns = table<RunTurnRow>('run_turns', {
  runId: key(),
  turn: whole({ primary: true }),
  messages: orderedJson(),
  workspace: { type: 'bytea', nullable: true },
  at: madeNow(),
  inputTokens: big({ nullable: true }),
  cachedInputTokens: big({ nullable: true }),
  outputTokens: big({ nullable: true }),
  costUsd: big({ type: 'numeric', nullable: true }),
  learned: orderedJson({ nullable: true }),
});

/** The first messages of a run's conversation, and what its prompts leave out. */
export interface RunContextRow {
  runId: string;
  opening: unknown;
  cut: unknown;
  limitChars: number | null;
  workspace: Buffer | null;
}
const RunContexts = table<RunContextRow>('run_contexts', {
  runId: key(),
  opening: orderedJson(),
  cut: orderedJson({ nullable: true }),
  limitChars: whole({ nullable: true }),
  workspace: { type: 'bytea', nullable: true },
});

/** The log of a run, as shown to people. */
export interface RunEventRow {
  id: number;
  runId: string;
  at: Date;
  type: string;
  text: string;
  data: unknown;
}
const RunEvents = table<RunEventRow>('run_events', {
  id: big({ primary: true, generated: true }),
  runId: text(),
  at: madeNow(),
  type: text(),
  text: text(),
  data: json({ default: {} }),
});

/** The changes of a task, computed for one commit. */
export interface DiffRow {
  taskId: string;
  branchName: string;
  baseBranch: string;
  headSha: string;
  files: unknown;
  /** Of the files; a trigger stores them. */
  paths: unknown;
  truncated: boolean;
  at: Date;
}
const Diffs = table<DiffRow>('diffs', {
  taskId: key(),
  branchName: text(),
  baseBranch: text(),
  headSha: text(),
  files: json(),
  paths: json({ default: [] }),
  truncated: flag(false),
  at: madeNow(),
});

/** What the tests of a run's change prove. */
export interface ProofRow {
  runId: string;
  taskId: string;
  status: string;
  newTestsFailOnBase: boolean | null;
  oldTestsPass: boolean | null;
  testsChanged: string[];
  testsRemoved: string[];
  reason: string | null;
  trees: unknown;
  commits: unknown;
  parts: unknown;
  bases: unknown;
  at: Date;
}
const Proofs = table<ProofRow>('proofs', {
  runId: key(),
  taskId: text(),
  status: text(),
  newTestsFailOnBase: { type: 'boolean', nullable: true },
  oldTestsPass: { type: 'boolean', nullable: true },
  testsChanged: json({ default: [] }),
  testsRemoved: json({ default: [] }),
  reason: maybeText(),
  trees: json({ default: {} }),
  commits: json({ default: {} }),
  parts: json({ default: {} }),
  bases: json({ default: {} }),
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
const ChatMessages = table<ChatMessageRow>('chat_messages', {
  id: key(),
  taskId: maybeText(),
  sprintId: maybeText(),
  role: text(),
  userId: maybeText(),
  content: text(),
  at: time({ default: () => 'clock_timestamp()' }),
});

/** All tables of this file, for the list in list.ts. */
export const runTables = [Revisions, RunSteps, RunTurns, RunContexts, RunEvents, Diffs, Proofs, ChatMessages];

/** What people say to a run. */
export interface RunMessageRow {
  id: string;
  runId: string;
  text: string;
  saidBy: string | null;
  at: Date;
  turn: number | null;
}
const RunMessages = table<RunMessageRow>('run_messages', {
  id: key(),
  runId: text(),
  text: text(),
  saidBy: maybeText(),
  at: time({ default: () => 'clock_timestamp()' }),
  turn: whole({ nullable: true }),
});

/** The plans that runs proposed. */
export interface PlanRow {
  id: string;
  taskId: string;
  runId: string;
  markdown: string;
  /** What the agent had proposed, if the person who approved it had changed it. */
  proposed: string | null;
  files: unknown;
  checks: unknown;
  at: Date;
  approvedAt: Date | null;
  approvedBy: string | null;
}
const Plans = table<PlanRow>('plans', {
  id: key(),
  taskId: text(),
  runId: text(),
  markdown: text(),
  proposed: maybeText(),
  files: json(),
  checks: json(),
  at: madeNow(),
  approvedAt: maybeTime(),
  approvedBy: maybeText(),
});

/** The changes that wait for a person's approval, or have it. */
export interface HeldChangeRow {
  runId: string;
  taskId: string;
  purpose: string;
  trees: unknown;
  parents: unknown;
  findings: unknown;
  expectations: unknown;
  branchName: string;
  baseBranch: string;
  files: unknown;
  truncated: boolean;
  at: Date;
  approvedAt: Date | null;
  approvedBy: string | null;
}
const HeldChanges = table<HeldChangeRow>('held_changes', {
  runId: key(),
  taskId: text(),
  purpose: key(),
  trees: json(),
  parents: json(),
  findings: json(),
  expectations: json(),
  branchName: text(),
  baseBranch: text(),
  files: json(),
  truncated: { type: 'boolean' },
  at: madeNow(),
  approvedAt: maybeTime(),
  approvedBy: maybeText(),
});

/** All tables of this file, for the list in list.ts. */
export const waitingTables = [RunMessages, Plans, HeldChanges];
