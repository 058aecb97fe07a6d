import type { App } from '../app.ts';
import { maxQuestions, modelQuestion, nextOwnQuestion, type Question } from '../domain/wizard.ts';
import { AppError } from '../errors.ts';
import { planningModel } from './ask-model.ts';
import { takeStep } from './plan-step.ts';
import type { Draft } from './session.ts';

/** The next question; undefined when enough is known. `notes` are those on the repositories, for later steps. */
export interface Next {
  question: Question | undefined;
  notes: string | null;
}

/**
 * Lets the model ask the next question, from the goal, the answers and what it reads in the repositories. Without a
 * model, returns the next of the fixed questions.
 * @throws AppError 502 when the model fails
 */
export async function nextQuestion(app: App, draft: Draft): Promise<Next> {
  const notes = draft.repositoryNotes;
  if (draft.steps.length >= maxQuestions) return { question: undefined, notes };
  const model = await planningModel(app, draft.projectId).catch((error) => {
    if (error instanceof AppError && error.status === 503) return undefined;
    throw error;
  });
  if (model === undefined) return { question: nextOwnQuestion(draft.steps), notes };
  const check = (asked: { done?: boolean }) =>
    asked.done && draft.steps.length === 0 ? 'ask at least one question before you set done' : undefined;
  const { given, notes: read } = await takeStep(app, model, 'ask_question', draft, { check });
  const { question, options, done } = given;
  return { question: done ? undefined : modelQuestion(question, options, draft.steps), notes: read };
}
