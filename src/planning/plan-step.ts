import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { maxQuestions, nextOwnQuestion, type Question, questionOf } from '../domain/wizard.ts';
import { AppError } from '../errors.ts';
import type { Model } from '../llm/model.ts';
import { rightProblem } from '../repositories/rights.ts';
import { askModel, type FunctionName, type Live, type PlanStep, planningModel, stepMs } from './ask-model.ts';
import { describeRepositories, openPlanReader, withFindings } from './plan-reader.ts';
import { type More, plannedRepositories, planningPrompt } from './prompts.ts';
import type { Draft } from './store.ts';

/**
 * Runs one step of a session: lets the model read the repositories and call the function. Returns what the
 * function was called with, and the notes on the repositories for later steps. A step reads only the repositories that
 * everybody may read whose words it follows; notes that are also about others, or about one that is no longer connected, are
 * neither used nor changed by it.
 * @throws AppError 502 when the model fails
 */
export async function takeStep<N extends FunctionName>(
  app: App,
  model: Model,
  name: N,
  draft: Draft,
  more: More & { live?: Live | undefined; check?: PlanStep['check']; askedBy?: string | undefined },
) {
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(stepMs)]);
  const readers = [...draft.directedBy, ...(more.askedBy === undefined ? [] : [more.askedBy])];
  const planned = await plannedRepositories(app, draft);
  const repositories: RepositoryRow[] = [];
  for (const each of planned)
    if ((await rightProblem(app, readers, each, 'read')) === undefined) repositories.push(each);
  const isWhole = repositories.length === draft.repositoryCount;
  const stored = isWhole ? draft.repositoryNotes : null;
  const reader = openPlanReader(app, { repositories, readers }, signal);
  try {
    const isUnread = stored === null || (stored === '' && name === 'write_prd');
    const notes = isUnread ? await describeOrNothing() : (stored ?? '');
    const known = { ...draft, repositoryNotes: notes };
    const isReadable = notes !== '';
    const opening = planningPrompt(name, known, { ...more, repositories: isReadable ? repositories : [] });
    const read = isReadable ? reader.call : undefined;
    const { given, found } = await askModel(app, model, name, {
      ...more.live,
      check: more.check,
      opening,
      read,
      signal,
    });
    return { given, notes: isWhole ? withFindings(notes, found) : draft.repositoryNotes };
  } finally {
    await reader.close();
  }

  async function describeOrNothing(): Promise<string> {
    if (repositories.length === 0) return '';
    try {
      return await describeRepositories(app, repositories, reader);
    } catch (error) {
      if (app.stopping.aborted) throw error;
      app.log.warn({ err: error, projectId: draft.projectId }, 'could not read the repositories for planning');
      return '';
    }
  }
}

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
  if (model === undefined) return { question: nextOwnQuestion(draft.steps, newId('step')), notes };
  const check = (asked: { done?: boolean }) =>
    asked.done && draft.steps.length === 0 ? 'ask at least one question before you set done' : undefined;
  const { given, notes: read } = await takeStep(app, model, 'ask_question', draft, { check });
  const { question, options, done } = given;
  return { question: done ? undefined : questionOf(newId('step'), question, options), notes: read };
}
