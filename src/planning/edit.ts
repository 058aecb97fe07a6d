import { setTimeout } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { nextState } from '../domain/machine.ts';
import { type PlanPart, planParts, wizardMachine } from '../domain/wizard.ts';
import { badRequest, notFound, type Problem } from '../errors.ts';
import type { EventStream } from '../http/events.ts';
import { ownerIdOf, ownerProblems, repositoryProblems } from '../tasks/operations.ts';
import { showPlan } from './operations.ts';
import type { EditWizard } from './schemas.ts';
import {
  changedByOthers,
  deleteSessionRow,
  lockSession,
  type Parts,
  type PlannedTask,
  type Session,
  updateSession,
} from './store.ts';

/** A person who is editing a part of a plan. */
export interface Editor {
  sessionId: string;
  userId: string;
  part: PlanPart;
}

/** SQL: an editor whose process has not confirmed it for this long is gone. */
const isStale = `seen_at < now() - interval '1 minute'`;

/** Notes that a person edits a part now. Removes editors of the plan who are gone. */
async function upsertEditor(em: EntityManager, { sessionId, userId, part }: Editor): Promise<void> {
  await em.query(`delete from plan_editors where session_id = $1 and ${isStale}`, [sessionId]);
  // The plan may have been deleted.
  await em.query(
    `insert into plan_editors (session_id, user_id, part) select id, $2, $3 from wizard_sessions where id = $1
     on conflict (session_id, user_id, part) do update set seen_at = now()`,
    [sessionId, userId, part],
  );
}

async function deleteEditor(em: EntityManager, { sessionId, userId, part }: Editor): Promise<void> {
  await em.query('delete from plan_editors where session_id = $1 and user_id = $2 and part = $3', [
    sessionId,
    userId,
    part,
  ]);
}

/** Returns who is editing which part of a plan. */
export async function listEditors(
  em: EntityManager,
  sessionId: string,
): Promise<{ part: PlanPart; user: { id: string; login: string } }[]> {
  return em.query(
    `select e.part, json_build_object('id', u.id, 'login', u.login) as user
     from plan_editors e join users u on u.id = e.user_id
     where e.session_id = $1 and not ${isStale} order by u.login, e.part`,
    [sessionId],
  );
}

/** Interval at which an open stream confirms that its person is still there. */
const confirmMs = 20_000;

/**
 * Shows the other members of the project that a person edits a part of a plan, for as long as the person's stream is open.
 * If the process dies, they see it for another minute.
 */
export async function showEditing(
  app: App,
  session: Session,
  { userId, part }: { userId: string; part: PlanPart },
  out: EventStream,
): Promise<void> {
  const editor: Editor = { sessionId: session.id, userId, part };
  await upsertEditor(app.db.manager, editor);
  out.begin();
  try {
    while (!out.signal.aborted) {
      await setTimeout(confirmMs, undefined, { signal: out.signal }).catch(() => undefined);
      if (!out.signal.aborted) await upsertEditor(app.db.manager, editor);
    }
  } finally {
    await deleteEditor(app.db.manager, editor);
  }
}

/**
 * Replaces parts of a plan with what a person wrote. Parts that were not given stay as they are. A rewrite that a comment
 * asked for is dropped, because it would overwrite them.
 * @throws Refused when the session has changed since the version that was edited, or does not have the part before yet;
 * AppError 400 naming the field
 */
export async function editWizard(
  app: App,
  { projectId, id }: Session,
  userId: string,
  { updatedAt, ...parts }: z.output<typeof EditWizard>,
): Promise<Session> {
  return app.db.transaction(async (em) => {
    const session = await lockSession(em, projectId, id);
    if (updatedAt !== undefined && Date.parse(updatedAt) !== session.updatedAt.getTime()) throw changedByOthers();
    const given = planParts.filter((part) => parts[part] !== undefined);
    let { status } = session;
    for (const part of given) status = nextState(wizardMachine, status, `edit_${part}`, { isLast: false });
    app.audit.note(Object.fromEntries(given.map((part) => [part, [session[part] && 'written', 'edited']])));
    if (given.length === 0) return session;
    if (parts.tasks !== undefined) {
      for (const task of parts.tasks) task.owner = await ownerIdOf(em, projectId, userId, task.owner);
      await checkReferences(em, session, userId, parts.tasks);
    }
    const change: Partial<Parts> = Object.fromEntries(given.map((part) => [part, parts[part]]));
    await updateSession(em, session, { status, ...change, wish: null, changedBy: userId });
    await showPlan(app, em, session);
    return session;
  });
}

/**
 * Checks the agents and repositories that edited tasks name. What a task named before is accepted, because the agent or
 * the repository may be gone; the sprint is then created without it.
 * @throws AppError 400
 */
async function checkReferences(
  em: EntityManager,
  session: Session,
  userId: string,
  tasks: PlannedTask[],
): Promise<void> {
  const before = new Set((session.tasks ?? []).flatMap(({ owner, repositoryId }) => [owner, repositoryId]));
  const isNew = (id: string | null): id is string => id !== null && !before.has(id);
  const problems: Problem[] = [];
  for (const [i, { owner, repositoryId }] of tasks.entries()) {
    const own = [
      ...(isNew(owner) ? await ownerProblems(em, session.projectId, userId, owner) : []),
      ...(isNew(repositoryId) ? await repositoryProblems(em, session.projectId, repositoryId) : []),
    ];
    problems.push(
      ...own.map(({ path, message }) => ({ path: `tasks.${i}.${path}`, message: `tasks.${i}.${message}` })),
    );
  }
  if (problems.length > 0) throw badRequest(problems);
}

/**
 * Deletes a session. The sprint of a finalized session stays. `also` is called in the same transaction.
 * @throws AppError 404
 */
export async function deleteWizard(
  app: App,
  session: Session,
  also?: (em: EntityManager) => Promise<void>,
): Promise<void> {
  const { id, projectId, status, issueRepositoryId: repositoryId, issueNumber: number } = session;
  await app.db.transaction(async (em) => {
    app.audit.note({ goal: [session.goal, null] });
    if (!(await deleteSessionRow(em, id))) throw notFound('Wizard session', id);
    await also?.(em);
    if (app.github === undefined || repositoryId === null || number === null || status === 'finalized') return;
    const deletedFrom = { repositoryId, number };
    await app.queue.send(
      em,
      'plan',
      { projectId, sessionId: id, goesOn: false, deletedFrom },
      { key: `${id} deleted` },
    );
  });
}
