import { big, json, key, madeNow, maybeText, maybeTime, table, text, time, whole } from './table.ts';

/** Changes that event streams report. `xid` is left out, because TypeORM does not know its type. */
export interface ProjectEventRow {
  id: number;
  projectId: string;
  kind: string;
  objectId: string;
  status: string;
  at: Date;
}
export const ProjectEvents = table<ProjectEventRow>('project_events', {
  id: big({ primary: true, generated: true }),
  projectId: text(),
  kind: text(),
  objectId: text(),
  status: text(),
  at: time({ default: () => 'clock_timestamp()' }),
});

/** Replies stored for repeated requests; `status` is null while the first request is in progress. */
export interface IdempotencyKeyRow {
  userId: string;
  request: string;
  key: string;
  digest: string;
  status: number | null;
  reply: string | null;
  createdAt: Date;
  claim: string;
  process: string | null;
  attempts: number;
}
export const IdempotencyKeys = table<IdempotencyKeyRow>('idempotency_keys', {
  userId: key(),
  request: key(),
  key: key(),
  digest: text(),
  status: whole({ nullable: true }),
  reply: maybeText(),
  createdAt: madeNow(),
  claim: text({ default: '' }),
  process: maybeText(),
  attempts: whole({ default: 1 }),
});

/**
 * Admins of a GitHub account who left its project. Synchronizing with GitHub does not add them again; signing in does.
 */
export interface DepartureRow {
  projectId: string;
  userId: string;
  at: Date;
}
export const Departures = table<DepartureRow>('departures', {
  projectId: key(),
  userId: key(),
  at: madeNow(),
});

/** The time since when an agent's failures in a project count. */
export interface HealthResetRow {
  agentId: string;
  projectId: string;
  at: Date;
}
export const HealthResets = table<HealthResetRow>('health_resets', {
  agentId: key(),
  projectId: key(),
  at: madeNow(),
});

/** What a model wrote about the failures of an agent, by a hash of its prompt; null until it gives a usable answer. */
export interface AgentSuggestionsRow {
  agentId: string;
  evidenceKey: string;
  suggestions: object | null;
  madeAt: Date;
  endedAt: Date | null;
}
export const AgentSuggestions = table<AgentSuggestionsRow>('agent_suggestions', {
  agentId: key(),
  evidenceKey: key(),
  suggestions: json({ nullable: true }),
  madeAt: madeNow(),
  endedAt: maybeTime(),
});

/** Reconciliations, which compare all tasks with their runs and with GitHub. */
export interface ReconciliationRow {
  id: string;
  trigger: 'manual' | 'scheduled' | 'start';
  userId: string | null;
  startedAt: Date;
  finishedAt: Date;
}
export const Reconciliations = table<ReconciliationRow>('reconciliations', {
  id: key(),
  trigger: text(),
  userId: maybeText(),
  startedAt: time(),
  finishedAt: time(),
});

/** The number of tasks that a reconciliation checked in each project. */
export interface ReconciledProjectRow {
  reconciliationId: string;
  projectId: string;
  checked: number;
}
export const ReconciledProjects = table<ReconciledProjectRow>('reconciled_projects', {
  reconciliationId: key(),
  projectId: key(),
  checked: whole(),
});

/** The tasks that a reconciliation repaired. */
export interface RecoveredTaskRow {
  reconciliationId: string;
  taskId: string;
  action: string;
  reason: string;
}
export const RecoveredTasks = table<RecoveredTaskRow>('recovered_tasks', {
  reconciliationId: key(),
  taskId: key(),
  action: text(),
  reason: text(),
});
