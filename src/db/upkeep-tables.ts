import { big, key, madeNow, maybeText, table, text, time, whole } from './table.ts';

/** Changes that event streams tell of. `xid` is left out: TypeORM does not know its type. */
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

/** Replies kept for repeated requests; `status` is null while the first request is under way. */
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

/** Admins of an account who left its project. Comparing with GitHub does not add them again; signing in does. */
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

/** Since when an agent's failures count in a project. */
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

/** Comparisons of all tasks with their runs and with GitHub. */
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

/** How many tasks of each project a reconciliation checked. */
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

/** What a reconciliation repaired. */
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
