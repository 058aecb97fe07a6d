import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import type { App } from '../app.ts';
import { hasRole } from '../domain/agent.ts';
import { nextState } from '../domain/machine.ts';
import { type Question, type Step, type WizardEvent, wizardMachine } from '../domain/wizard.ts';
import { badField, badRequest, notAMember, requiresRole } from '../errors.ts';
import { roleIn } from '../projects/member-store.ts';
import { findPrimary, listProjectRepositories } from '../repositories/store.ts';
import { repositoryProblems } from '../tasks/operations.ts';
import { type Next, nextQuestion } from './plan-step.ts';
import type { AnswerWizard } from './schemas.ts';
import { getSession, insertSession, type Session, updateSession } from './store.ts';

export type Answer = z.output<typeof AnswerWizard>['answer'];

/** A change to make in the same transaction. */
export type Also = (em: EntityManager, sessionId: string) => Promise<void>;

/**
 * Starts a session with its first question. With `isAskedLater`, the session begins without one, and `askNext` asks it.
 * @throws AppError 400 for an unknown repository, 403 if the person is no longer a member, 502 when the model fails
 */
export async function startWizard(
  app: App,
  projectId: string,
  userId: string,
  input: NewSession,
  also?: Also,
): Promise<Session> {
  const em = app.db.manager;
  const repositoryIds = await chosenRepositories(em, projectId, input);
  const { goal, issue, isAskedLater = false } = input;
  const repositoryCount = repositoryIds.length;
  const draft = { ...emptyDraft, projectId, repositoryIds, repositoryCount, goal, directedBy: [userId] };
  const { question, notes } = isAskedLater ? { question: undefined, notes: null } : await nextQuestion(app, draft);
  return app.db.transaction(async (tx) => {
    if (!isAskedLater) await requireMember(tx, projectId, userId);
    const steps = question === undefined ? [] : [openStep(question)];
    const session = { projectId, repositoryIds, goal, createdBy: userId, steps, repositoryNotes: notes, issue };
    const made = await insertSession(tx, session);
    app.audit.about({ type: 'wizard', id: made, projectId });
    app.audit.note({ goal: [null, goal] });
    await also?.(tx, made);
    return getSession(tx, projectId, made);
  });
}

const emptyDraft = {
  issueRepositoryId: null,
  issueNumber: null,
  steps: [],
  prd: null,
  plan: null,
  tasks: null,
  previous: {},
  repositoryNotes: null,
};

interface NewSession {
  goal: string;
  repositoryId?: string | undefined;
  repositoryIds?: string[] | undefined;
  issue?: { repositoryId: string; number: number };
  isAskedLater?: boolean;
}

/** Returns the repositories to plan for: those that were given, otherwise the primary one. @throws AppError 400 */
async function chosenRepositories(em: EntityManager, projectId: string, given: NewSession): Promise<string[]> {
  const { repositoryId, repositoryIds } = given;
  const [problem] = await repositoryProblems(em, projectId, repositoryId);
  if (problem !== undefined) throw badField(problem.path, problem.message);
  const known = new Set((await listProjectRepositories(em, projectId)).map(({ id }) => id));
  const unknown = (repositoryIds ?? []).flatMap((id, i) => {
    const path = `repositoryIds.${i}`;
    return known.has(id) ? [] : [{ path, message: `${path} must be a repository of this project, not ${id}` }];
  });
  if (unknown.length > 0) throw badRequest(unknown);
  if (repositoryIds !== undefined) return [...new Set(repositoryIds)];
  const only = repositoryId ?? (await findPrimary(em, projectId))?.id;
  return only === undefined ? [] : [only];
}

/** Returns the open question; undefined when all are answered. */
export function currentStep(session: Session): Step | undefined {
  return session.steps.find((step) => step.answer === null);
}

/**
 * Stores an answer and asks the next question. A new answer to an earlier question discards everything after it. With
 * `isAskedLater`, `askNext` asks the next question.
 * @throws AppError 400 for an unknown step or option, 403 if the person is no longer a member, 502 when the model fails;
 * then nothing has changed
 */
export async function answerWizard(
  app: App,
  session: Session,
  answer: Answer,
  { isAskedLater = false, answeredBy = null }: { isAskedLater?: boolean; answeredBy?: string | null } = {},
  also?: Also,
): Promise<Session> {
  const { at, step } = checkedStep(session, answer);
  after(session, 'answer');
  const given = { selectedOptionIds: [...new Set(answer.selectedOptionIds)], customText: answer.customText.trim() };
  const steps = [...session.steps.slice(0, at), { ...step, answer: given }];
  const directedBy = [...session.directedBy, ...(answeredBy === null ? [] : [answeredBy])];
  const draft = { ...session, steps, directedBy, prd: null, plan: null, tasks: null };
  const next = isAskedLater ? undefined : await nextQuestion(app, draft);
  app.audit.note({ [step.id]: [answerText(step), answerText({ ...step, answer: given })] });
  const none = { prd: null, plan: null, tasks: null, wish: null, changedBy: answeredBy };
  const waiting = isAskedLater ? null : answeredBy;
  if (next === undefined) await keep(app, session, { status: after(session, 'answer'), steps, ...none }, also);
  else await keep(app, session, { ...asked(session, 'answer', steps, next), ...none }, also, waiting);
  return session;
}

/**
 * Asks the next question of a session without an open one. The caller shows it in the issue. Returns false when the
 * session has an open question, or when enough is known.
 * @throws Refused when the session is finalized or somebody else changed it, AppError 502 when the model fails
 */
export async function askNext(app: App, session: Session): Promise<boolean> {
  if (currentStep(session) !== undefined) return false;
  after(session, 'ask');
  const next = await nextQuestion(app, session);
  await keep(app, session, asked(session, 'ask', session.steps, next), async () => {});
  return next.question !== undefined;
}

/** Stores what a person wants to be different in a whole plan. A job then rewrites it. */
export async function wishForChange(
  app: App,
  session: Session,
  { wish, userId }: { wish: string; userId: string },
  also: Also,
): Promise<void> {
  app.audit.note({ wish: [session.wish, wish] });
  await keep(app, session, { wish, changedBy: userId }, also);
}

/** Returns the update that adds the next question to a session, or marks all questions as answered. */
function asked(session: Session, event: 'answer' | 'ask', steps: Step[], { question, notes }: Next) {
  return {
    status: after(session, event, question === undefined),
    steps: question === undefined ? steps : [...steps, openStep(question)],
    repositoryNotes: notes,
  };
}

const openStep = (question: Question): Step => ({ ...question, askedAt: new Date().toISOString(), answer: null });

/** Returns the step of an answer and its place. @throws AppError 400 */
function checkedStep(session: Session, answer: Answer): { at: number; step: Step } {
  const at = session.steps.findIndex((step) => step.id === answer.stepId);
  const step = session.steps[at];
  if (step === undefined) {
    const open = currentStep(session);
    const hint = open === undefined ? 'no step is open' : `the open step is ${open.id}`;
    throw badField('answer.stepId', `answer.stepId: no step ${answer.stepId} in this session; ${hint}`);
  }
  for (const [i, id] of answer.selectedOptionIds.entries())
    if (!step.options.some((option) => option.id === id))
      throw badField(
        `answer.selectedOptionIds.${i}`,
        `answer.selectedOptionIds.${i}: no option ${id} in step ${step.id}`,
      );
  return { at, step };
}

function answerText({ options, answer }: Step): string | null {
  if (answer === null) return null;
  const labels = options.filter(({ id }) => answer.selectedOptionIds.includes(id)).map(({ label }) => label);
  return [...labels, answer.customText].filter(Boolean).join('; ');
}

/**
 * Stores the changes of a session and shows them in its issue. A caller that gives `also` shows them itself, because a
 * second update would remove what its comment says about a failure. `waiting` is the person who gets the changed session.
 * @throws Refused if somebody else changed it; AppError 403 if that person is no longer a member
 */
export async function keep(
  app: App,
  session: Session,
  change: Parameters<typeof updateSession>[2],
  also: Also = (em) => showPlan(app, em, session),
  waiting: string | null = null,
): Promise<void> {
  await app.db.transaction(async (em) => {
    if (waiting !== null) await requireMember(em, session.projectId, waiting);
    await updateSession(em, session, change);
    await also(em, session.id);
  });
}

/** A model may write for minutes. Somebody who has lost the right to change plans in that time does not get the result. */
async function requireMember(em: EntityManager, projectId: string, userId: string): Promise<void> {
  const role = await roleIn(em, projectId, userId);
  if (role === undefined) throw notAMember(projectId);
  if (!hasRole(role, 'member')) throw requiresRole('member');
}

/** Queues an update of the planning comment if the plan is made in an issue. */
export async function showPlan(app: App, em: EntityManager, { id, projectId, issueNumber }: Session): Promise<void> {
  if (app.github === undefined || issueNumber === null) return;
  await app.queue.send(em, 'plan', { projectId, sessionId: id, goesOn: false }, { key: id });
}

/** Returns the status after an event. @throws Refused when the status forbids it */
export function after(session: Session, event: WizardEvent, isLast = false) {
  return nextState(wizardMachine, session.status, event, { isLast });
}
