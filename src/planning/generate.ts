import type { z } from 'zod';
import type { App } from '../app.ts';
import type { PlanPart } from '../domain/wizard.ts';
import type { Model } from '../llm/model.ts';
import { type functions, type Live, planningModel } from './ask-model.ts';
import { type Also, after, keep } from './operations.ts';
import { takeStep } from './plan-step.ts';
import { type Choices, choicesOf, chosenAgent, chosenRepository } from './prompts.ts';
import type { Parts, PlannedTask, Session } from './store.ts';

interface Wanted {
  feedback: string;
  /** The person whose agents may become owners. */
  userId: string | null;
  /** The person who asked for it; missing when the service writes the next part. */
  askedBy?: string;
  live?: Live;
  /** Shows the part in the plan's issue. By default a job does. */
  also?: Also;
}

/**
 * Lets the model write the requirements, the plan or the tasks. Rewriting a part discards the parts based on it.
 * @throws Refused out of order; AppError 503 without a model, 502 when it fails, 403 if the person was removed from the
 * project; then nothing has changed
 */
export async function generate(app: App, session: Session, part: PlanPart, wanted: Wanted): Promise<Session> {
  const status = after(session, `generate_${part}`);
  const model = await planningModel(app, session, wanted.askedBy ?? session.updatedBy?.id ?? session.createdBy);
  const { notes, ...made } = await makers[part](app, model, session, wanted);
  app.audit.note({ [part]: session[part] === null ? [null, 'written'] : ['written', 'rewritten'] });
  const dropped = { prd: { plan: null, tasks: null }, plan: { tasks: null }, tasks: {} }[part];
  const wish = part === 'tasks' ? { wish: null } : {};
  const change = { status, ...dropped, ...made, ...wish, repositoryNotes: notes, changedBy: wanted.askedBy ?? null };
  await keep(app, session, change, wanted.also, change.changedBy);
  return session;
}

type Maker = (
  app: App,
  model: Model,
  session: Session,
  wanted: Wanted,
) => Promise<Partial<Parts> & { notes: string | null }>;

const makers: { [part in PlanPart]: Maker } = {
  prd: async (app, model, session, wanted) => {
    const { given, notes } = await takeStep(app, model, 'write_prd', session, wanted);
    return { prd: given, notes };
  },
  plan: async (app, model, session, wanted) => {
    const { given, notes } = await takeStep(app, model, 'write_plan', session, wanted);
    return { plan: given, notes };
  },
  tasks: async (app, model, session, wanted) => {
    const choices = await choicesOf(app, session, wanted.userId);
    const { given, notes } = await takeStep(app, model, 'write_tasks', session, { ...wanted, choices });
    return { tasks: given.tasks.map((task) => withIds(task, choices)), notes };
  },
};

type WrittenTask = z.output<(typeof functions)['write_tasks']['arguments']>['tasks'][number];

/** Replaces the names of agents and repositories by their ids. An unknown or ambiguous name becomes null. */
function withIds({ owner, ownerReason, repository, ...task }: WrittenTask, choices: Choices): PlannedTask {
  const agent = chosenAgent(choices, owner ?? '');
  return {
    ...task,
    owner: agent?.id ?? null,
    ownerReason: agent === undefined ? null : ownerReason?.trim() || null,
    repositoryId: chosenRepository(choices, repository ?? '')?.id ?? null,
  };
}
