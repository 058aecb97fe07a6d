import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import { newId } from '../db/ids.ts';
import { Refused } from '../domain/machine.ts';
import { storableJson } from '../domain/text/sanitize.ts';
import { type PlanPart, planParts, type Step, type WizardStatus } from '../domain/wizard.ts';
import { notFound } from '../errors.ts';

export interface Prd {
  title: string;
  markdown: string;
}
export interface WizardPlan {
  phases: { name: string; goal: string; reason: string }[];
}
export interface PlannedTask {
  ref: string;
  title: string;
  description: string;
  owner: string | null;
  /** Why this owner fits, in the model's words. */
  ownerReason: string | null;
  /** Null for the first repository of the session. */
  repositoryId: string | null;
  dependsOn: string[];
}
/** The sprint of a finalized session, with its tasks. */
export interface PlannedSprint {
  sprint: { id: string; name: string };
  tasks: { id: string; title: string }[];
}

/** The parts of a plan that exist. */
export interface Parts {
  prd: Prd | null;
  plan: WizardPlan | null;
  tasks: PlannedTask[] | null;
}

export interface Session extends Parts {
  id: string;
  projectId: string;
  /** The repositories that still exist, in the order in which they were given. */
  repositoryIds: string[];
  /** How many repositories were given. */
  repositoryCount: number;
  goal: string;
  status: WizardStatus;
  steps: Step[];
  /** Each part as it was before its last change. */
  previous: Partial<Parts>;
  /** The parts that follow from an earlier text of a part before them. */
  outdated: PlanPart[];
  /** The change that a comment asked for and that is not yet written. */
  wish: string | null;
  repositoryNotes: string | null;
  result: PlannedSprint | null;
  sprintId: string | null;
  issueRepositoryId: string | null;
  issueNumber: number | null;
  /** The address of the issue that it was planned from. */
  issueUrl: string | null;
  createdBy: string | null;
  /** The users whose words it follows. */
  directedBy: string[];
  /** The person who changed it last; null if the service did, or nobody since it began. */
  updatedBy: { id: string; login: string } | null;
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** What a step of planning needs to know of a session, which may not be stored yet. */
export type Draft = Pick<
  Session,
  | 'projectId'
  | 'repositoryIds'
  | 'repositoryCount'
  | 'issueRepositoryId'
  | 'issueNumber'
  | 'directedBy'
  | 'goal'
  | 'steps'
  | 'prd'
  | 'plan'
  | 'tasks'
  | 'previous'
  | 'repositoryNotes'
>;

/** An entry in the list of a project's sessions. */
export interface SessionEntry
  extends Pick<
    Session,
    'id' | 'status' | 'goal' | 'issueUrl' | 'repositoryIds' | 'sprintId' | 'updatedBy' | 'createdAt' | 'updatedAt'
  > {
  title: string | null;
  createdBy: { id: string; login: string } | null;
}

/** SQL: the ids of a session's repositories that still belong to its project. */
const repositoryIds = `(select coalesce(jsonb_agg(r.id order by listed.n), '[]')
  from jsonb_array_elements_text(w.repository_ids) with ordinality listed (id, n)
  join repositories r on r.id = listed.id and r.project_id = w.project_id)`;

/** SQL: the person who changed the session last. */
const updatedBy = `(select json_build_object('id', u.id, 'login', u.login) from users u where u.id = w.updated_by)`;

/** SQL: the address of the session's issue. */
const issueUrl = `(select regexp_replace(i.url, '\\.git$', '') || '/issues/' || w.issue_number from repositories i
  where i.id = w.issue_repository_id)`;

const columns = `w.id, w.project_id as "projectId", ${repositoryIds} as "repositoryIds",
  jsonb_array_length(w.repository_ids) as "repositoryCount", w.goal, w.status, w.steps, w.prd, w.plan, w.tasks, w.previous, w.outdated, w.wish,
  w.repository_notes as "repositoryNotes", w.result, w.sprint_id as "sprintId",
  w.issue_repository_id as "issueRepositoryId", w.issue_number as "issueNumber", ${issueUrl} as "issueUrl", w.created_by as "createdBy",
  w.directed_by as "directedBy",
  ${updatedBy} as "updatedBy", w.created_at as "createdAt", w.updated_at as "updatedAt", w.version`;

export async function insertSession(
  em: EntityManager,
  session: {
    projectId: string;
    repositoryIds: string[];
    goal: string;
    createdBy: string;
    steps: Step[];
    repositoryNotes?: string | null;
    issue?: { repositoryId: string; number: number } | undefined;
  },
): Promise<string> {
  const id = newId('wiz');
  await em.query(
    `insert into wizard_sessions (id, project_id, repository_id, repository_ids, goal, status, created_by, directed_by, steps,
       repository_notes, issue_repository_id, issue_number)
     values ($1, $2, $3, $4, $5, 'collecting', $6, jsonb_build_array($6::text), $7, $8, $9, $10)`,
    [
      id,
      session.projectId,
      session.repositoryIds[0] ?? null,
      JSON.stringify(session.repositoryIds),
      session.goal,
      session.createdBy,
      storableJson(session.steps),
      session.repositoryNotes ?? null,
      session.issue?.repositoryId ?? null,
      session.issue?.number ?? null,
    ],
  );
  return id;
}

/** Returns the sessions of a project, newest first. Without a limit, returns all of them. */
export async function listSessions(
  em: EntityManager,
  projectId: string,
  page: { limit?: number | undefined; offset: number },
): Promise<SessionEntry[]> {
  return em.query(
    `select w.id, w.status, w.goal, ${issueUrl} as "issueUrl", w.prd->>'title' as title,
       ${repositoryIds} as "repositoryIds", w.sprint_id as "sprintId", w.created_at as "createdAt",
       w.updated_at as "updatedAt", ${updatedBy} as "updatedBy",
       case when u.id is null then null else json_build_object('id', u.id, 'login', u.login) end as "createdBy"
     from wizard_sessions w left join users u on u.id = w.created_by
     where w.project_id = $1 order by w.created_at desc, w.id desc limit $2 offset $3`,
    [projectId, page.limit === undefined ? null : page.limit + 1, page.offset],
  );
}

/** Returns false when there is no such session any more. */
export async function deleteSessionRow(em: EntityManager, id: string): Promise<boolean> {
  const [, count]: [unknown, number] = await em.query('delete from wizard_sessions where id = $1', [id]);
  return count > 0;
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

/** A change of a session. `changedBy` is the person who asked for it; without one, the service made it. */
export type SessionChange = Partial<
  Pick<Session, 'status' | 'steps' | 'wish' | 'result' | 'sprintId' | 'repositoryNotes'> &
    Parts & { changedBy: string | null }
>;

/**
 * Stores the changes of a session, and what its parts were before.
 * @throws Refused if somebody else changed it since it was read; AppError 404 if somebody deleted it
 */
export async function updateSession(
  em: EntityManager,
  session: Session,
  { changedBy = null, ...change }: SessionChange,
): Promise<void> {
  const outdated = outdatedParts(session, change);
  const next = { ...session, ...change, previous: previousParts(session, change), outdated };
  const json = (value: object | null) => (value === null ? null : storableJson(value));
  // Two changes within one millisecond must differ too, because people send the time of the version that they edited.
  const [rows, changed]: [Pick<Session, 'updatedAt' | 'updatedBy' | 'directedBy' | 'repositoryIds'>[], number] =
    await em.query(
      `update wizard_sessions w set status = $3, steps = $4, prd = $5, plan = $6, tasks = $7, result = $8,
       repository_notes = $9, previous = $10, wish = $11, sprint_id = $12, updated_by = $13, outdated = $14,
       directed_by = case when $13::text is null or directed_by ? $13 then directed_by else directed_by || to_jsonb($13::text) end,
       version = version + 1,
       updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond')
     where id = $1 and version = $2
     returning updated_at as "updatedAt", directed_by as "directedBy", ${updatedBy} as "updatedBy", ${repositoryIds} as "repositoryIds"`,
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
        json(next.previous),
        next.wish,
        next.sprintId,
        changedBy,
        json(outdated),
      ],
    );
  if (changed === 0) {
    await getSession(em, session.projectId, session.id);
    throw changedByOthers();
  }
  Object.assign(session, next, { version: session.version + 1, ...rows[0] });
}

export function changedByOthers(): Refused {
  return new Refused('Somebody else changed this planning session. Reload to see their changes.');
}

/**
 * Returns the parts that follow from an earlier text of a part before them, once the change is stored. A part that is written
 * again, also as it was, counts as up to date.
 */
function outdatedParts(session: Session, change: Partial<Parts>): PlanPart[] {
  let hasChanged = false;
  return planParts.filter((part) => {
    const after = change[part];
    const isOutdated = after === undefined && session[part] !== null && (hasChanged || session.outdated.includes(part));
    hasChanged ||= after !== undefined && !isDeepStrictEqual(session[part], after);
    return isOutdated;
  });
}

/**
 * Returns the parts before their last change. A part that is removed is kept, so that its next version can be compared.
 */
function previousParts(session: Session, change: Partial<Parts>): Partial<Parts> {
  const replaced = planParts.filter((part) => {
    const [before, after] = [session[part], change[part]];
    return before !== null && after !== undefined && !isDeepStrictEqual(before, after);
  });
  return { ...session.previous, ...Object.fromEntries(replaced.map((part: PlanPart) => [part, session[part]])) };
}
