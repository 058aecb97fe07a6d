import type { EntityManager } from 'typeorm';
import type { z } from 'zod';
import { findAgentsByName, listProjectAgents } from '../agents/store.ts';
import type { App } from '../app.ts';
import { nextState } from '../domain/machine.ts';
import {
  maxQuestions,
  modelQuestion,
  nextOwnQuestion,
  type Question,
  type Step,
  type WizardEvent,
  wizardMachine,
} from '../domain/wizard.ts';
import { AppError, badField } from '../errors.ts';
import type { Model } from '../llm/model.ts';
import { findPrimary } from '../repositories/store.ts';
import { repositoryProblems } from '../tasks/operations.ts';
import { askModel, planningModel } from './ask-model.ts';
import { planningPrompt } from './prompts.ts';
import { describeRepository } from './repository-notes.ts';
import type { AnswerWizard } from './schemas.ts';
import { getSession, insertSession, type Session, setRepositoryNotes, updateSession } from './store.ts';

export type Answer = z.output<typeof AnswerWizard>['answer'];

/** A change to make in the same transaction. */
type Also = (em: EntityManager, sessionId: string) => Promise<void>;

/**
 * Starts a session with the first of the fixed questions.
 * @throws AppError 400 for an unknown repository
 */
export async function startWizard(
  app: App,
  projectId: string,
  userId: string,
  input: { goal: string; repositoryId?: string | undefined; issue?: { repositoryId: string; number: number } },
  also?: Also,
): Promise<Session> {
  const em = app.db.manager;
  const [problem] = await repositoryProblems(em, projectId, input.repositoryId);
  if (problem !== undefined) throw badField(problem.path, problem.message);
  const repositoryId = input.repositoryId ?? (await findPrimary(em, projectId))?.id ?? null;
  const steps: Step[] = [{ ...(nextOwnQuestion([]) as Question), answer: null }];
  const { goal, issue } = input;
  const id = await app.db.transaction(async (tx) => {
    const made = await insertSession(tx, { projectId, repositoryId, goal, createdBy: userId, steps, issue });
    app.audit.about({ type: 'wizard', id: made, projectId });
    app.audit.note({ goal: [null, goal] });
    await also?.(tx, made);
    return made;
  });
  return getSession(em, projectId, id);
}

/** Returns the open question; undefined when all are answered. */
export function currentStep(session: Session): Step | undefined {
  return session.steps.find((step) => step.answer === null);
}

/**
 * Stores an answer and asks the next question. A new answer to an earlier question discards everything after it. When
 * the fixed questions are answered, the model asks more until it knows enough.
 * @throws AppError 400 for an unknown step or option, 502 when the model fails; then nothing has changed
 */
export async function answerWizard(app: App, session: Session, answer: Answer, also?: Also): Promise<Session> {
  const at = session.steps.findIndex((step) => step.id === answer.stepId);
  const step = session.steps[at];
  if (step === undefined)
    throw badField(
      'answer.stepId',
      `answer.stepId: no step ${answer.stepId} in this session; the open step is ${currentStep(session)?.id ?? 'none'}`,
    );
  for (const [i, id] of answer.selectedOptionIds.entries())
    if (!step.options.some((option) => option.id === id))
      throw badField(
        `answer.selectedOptionIds.${i}`,
        `answer.selectedOptionIds.${i}: no option ${id} in step ${step.id}`,
      );
  after(session, 'answer', false);
  const given = { selectedOptionIds: [...new Set(answer.selectedOptionIds)], customText: answer.customText.trim() };
  const steps = [...session.steps.slice(0, at), { ...step, answer: given }];
  const question = nextOwnQuestion(steps) ?? (await modelsQuestion(app, { ...session, steps, prd: null }));
  const status = after(session, 'answer', question === undefined);
  app.audit.note({ [step.id]: [answerText(step), answerText({ ...step, answer: given })] });
  const next = question === undefined ? steps : [...steps, { ...question, answer: null }];
  await keep(app, session, { status, steps: next, prd: null, plan: null, tasks: null }, also);
  return session;
}

function answerText({ options, answer }: Step): string | null {
  if (answer === null) return null;
  const labels = options.filter(({ id }) => answer.selectedOptionIds.includes(id)).map(({ label }) => label);
  return [...labels, answer.customText].filter(Boolean).join('; ');
}

async function keep(
  app: App,
  session: Session,
  change: Parameters<typeof updateSession>[2],
  also?: Also,
): Promise<void> {
  await app.db.transaction(async (em) => {
    await updateSession(em, session, change);
    await also?.(em, session.id);
    await showPlan(app, em, session);
  });
}

/** Queues an update of the planning comment if the plan is made in an issue. */
export async function showPlan(app: App, em: EntityManager, { id, projectId, issueNumber }: Session): Promise<void> {
  if (app.github === undefined || issueNumber === null) return;
  await app.queue.send(em, 'plan', { projectId, sessionId: id, goesOn: false }, { key: id });
}

function after(session: Session, event: WizardEvent, isLast = false) {
  return nextState(wizardMachine, session.status, event, { isLast });
}

/** Asks the model for its next question. Returns undefined when the model knows enough, or without a model. */
async function modelsQuestion(app: App, session: Session): Promise<Question | undefined> {
  if (session.steps.length >= maxQuestions) return undefined;
  const model = await planningModel(app, session.projectId).catch((error) => {
    if (error instanceof AppError && error.status === 503) return undefined;
    throw error;
  });
  if (model === undefined) return undefined;
  const prompt = planningPrompt('ask_question', await withNotes(app, session));
  const { question, options, done } = await askModel(app, model, 'ask_question', prompt);
  return done ? undefined : modelQuestion(question, options, session.steps);
}

/** Returns the session with notes on its repository. The repository is read once, and all steps use the notes. */
async function withNotes(app: App, session: Session): Promise<Session> {
  if (session.repositoryNotes !== null) return session;
  const repositoryNotes = await describeRepository(app, session.repositoryId);
  await setRepositoryNotes(app.db.manager, session.id, repositoryNotes);
  return { ...session, repositoryNotes };
}

type Part = 'prd' | 'plan' | 'tasks';

/**
 * Lets the model write the requirements, the plan or the tasks. Rewriting a part discards the parts based on it.
 * @throws Refused out of order; AppError 503 without a model, 502 when it fails; then nothing has changed
 */
export async function generate(app: App, session: Session, part: Part, feedback: string): Promise<Session> {
  const status = after(session, `generate_${part}`);
  const model = await planningModel(app, session.projectId);
  const known = await withNotes(app, session);
  session.repositoryNotes = known.repositoryNotes;
  const made = await makers[part](app, model, known, feedback);
  app.audit.note({ [part]: session[part] === null ? [null, 'written'] : ['written', 'rewritten'] });
  const dropped = { prd: { plan: null, tasks: null }, plan: { tasks: null }, tasks: {} }[part];
  await keep(app, session, { status, ...dropped, ...made });
  return session;
}

const makers: {
  [part in Part]: (app: App, model: Model, session: Session, feedback: string) => Promise<Partial<Session>>;
} = {
  prd: async (app, model, session, feedback) => ({
    prd: await askModel(app, model, 'write_prd', planningPrompt('write_prd', session, { feedback })),
  }),
  plan: async (app, model, session, feedback) => ({
    plan: await askModel(app, model, 'write_plan', planningPrompt('write_plan', session, { feedback })),
  }),
  tasks: async (app, model, session, feedback) => {
    const em = app.db.manager;
    const agents = await listProjectAgents(em, session.projectId);
    const prompt = planningPrompt('write_tasks', session, { agents, feedback });
    const { tasks } = await askModel(app, model, 'write_tasks', prompt);
    const found = [];
    for (const { owner, ...task } of tasks) {
      const named = owner ? await findAgentsByName(em, owner, session.projectId, null) : [];
      found.push({ ...task, owner: named.length === 1 && named[0] ? named[0].id : null });
    }
    return { tasks: found };
  },
};
