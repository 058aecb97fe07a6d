import { json, key, madeNow, maybeText, maybeTime, table, text, time, whole } from './table.ts';

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
