import type { EntityManager } from 'typeorm';
import { newId } from '../db/ids.ts';
import { Refused } from '../domain/machine.ts';
import { storableJson } from '../domain/text/storable.ts';
import type { Step, WizardStatus } from '../domain/wizard.ts';
import { notFound } from '../errors.ts';

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
  dependsOn: string[];
}
/** The sprint of a finalized session, with its tasks. */
export interface PlannedSprint {
  sprint: { id: string; name: string };
  tasks: { id: string; title: string }[];
}

export interface Session {
  id: string;
  projectId: string;
  repositoryId: string | null;
  goal: string;
  status: WizardStatus;
  steps: Step[];
  prd: Prd | null;
  plan: Plan | null;
  tasks: PlannedTask[] | null;
  repositoryNotes: string | null;
  result: PlannedSprint | null;
  issueRepositoryId: string | null;
  issueNumber: number | null;
  version: number;
}

const columns = `w.id, w.project_id as "projectId", w.repository_id as "repositoryId", w.goal, w.status, w.steps, w.prd,
  w.plan, w.tasks, w.repository_notes as "repositoryNotes", w.result, w.issue_repository_id as "issueRepositoryId",
  w.issue_number as "issueNumber", w.version`;

export async function insertSession(
  em: EntityManager,
  session: {
    projectId: string;
    repositoryId: string | null;
    goal: string;
    createdBy: string;
    steps: Step[];
    issue?: { repositoryId: string; number: number } | undefined;
  },
): Promise<string> {
  const id = newId('wiz');
  await em.query(
    `insert into wizard_sessions (id, project_id, repository_id, goal, status, created_by, steps, issue_repository_id, issue_number)
     values ($1, $2, $3, $4, 'collecting', $5, $6, $7, $8)`,
    [
      id,
      session.projectId,
      session.repositoryId,
      session.goal,
      session.createdBy,
      storableJson(session.steps),
      session.issue?.repositoryId ?? null,
      session.issue?.number ?? null,
    ],
  );
  return id;
}

/**
 * Finds a session.
 * @throws AppError 404, also for a session of another project
 */
export async function getSession(em: EntityManager, projectId: string, id: string): Promise<Session> {
  const rows: Session[] = await em.query(
    `select ${columns} from wizard_sessions w where w.id = $1 and w.project_id = $2`,
    [id, projectId],
  );
  if (rows[0] === undefined) throw notFound('Wizard session', id);
  return rows[0];
}

/**
 * Locks a session until the end of the transaction, and returns it.
 * @throws AppError 404
 */
export async function lockSession(em: EntityManager, projectId: string, id: string): Promise<Session> {
  await em.query('select 1 from wizard_sessions where id = $1 for update', [id]);
  return getSession(em, projectId, id);
}

/** Stores notes for later steps. People do not see the notes, so this does not count as a change of the session. */
export async function setRepositoryNotes(em: EntityManager, id: string, notes: string): Promise<void> {
  await em.query('update wizard_sessions set repository_notes = $2 where id = $1', [id, notes]);
}

/**
 * Returns the sessions of a project that are not finalized, at most two. The caller only needs to know whether there is
 * more than one.
 */
export async function listOpenSessions(em: EntityManager, projectId: string): Promise<Session[]> {
  return em.query(
    `select ${columns} from wizard_sessions w where w.project_id = $1 and w.status <> 'finalized'
     order by w.created_at, w.id limit 2`,
    [projectId],
  );
}

/** Finds the open session of an issue, or else the one that was finalized last. */
export async function findSessionOfIssue(
  em: EntityManager,
  repositoryId: string,
  number: number,
  which: 'open' | 'finalized',
) {
  const rows: Session[] = await em.query(
    `select ${columns} from wizard_sessions w where w.issue_repository_id = $1 and w.issue_number = $2
       and (w.status = 'finalized') = $3
     order by w.created_at desc limit 1`,
    [repositoryId, number, which === 'finalized'],
  );
  return rows[0];
}

/**
 * Stores the changes of a session.
 * @throws Refused if somebody else changed it since it was read
 */
export async function updateSession(
  em: EntityManager,
  session: Session,
  change: Partial<Pick<Session, 'status' | 'steps' | 'prd' | 'plan' | 'tasks' | 'result' | 'repositoryNotes'>>,
): Promise<void> {
  const next = { ...session, ...change };
  const json = (value: object | null) => (value === null ? null : storableJson(value));
  const [, changed] = await em.query(
    `update wizard_sessions set status = $3, steps = $4, prd = $5, plan = $6, tasks = $7, result = $8,
       repository_notes = $9, version = version + 1, updated_at = now()
     where id = $1 and version = $2`,
    [
      session.id,
      session.version,
      next.status,
      json(next.steps),
      json(next.prd),
      json(next.plan),
      json(next.tasks),
      json(next.result),
      next.repositoryNotes,
    ],
  );
  if (changed === 0) throw new Refused('Somebody else changed this planning session. Reload to see their changes.');
  session.version += 1;
  Object.assign(session, change);
}
