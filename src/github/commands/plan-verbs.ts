import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { oneLine, plain } from '../../domain/text/quoted.ts';
import { AppError } from '../../errors.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { finalizeWizard } from '../../planning/finalize.ts';
import { answerWizard, currentStep, generate, startWizard } from '../../planning/operations.ts';
import { findSessionOfIssue, getSession, type Session } from '../../planning/store.ts';
import { startSprint } from '../../sprints/operations.ts';
import { placeOfRepository } from '../place.ts';
import type { Order } from './order.ts';
import { planComment, planMarker } from './plan-comment.ts';
import { sayOnce } from './replies.ts';

/**
 * Begins to plan from an issue, goes on where it stopped, or writes the plan anew with what should be different. What a
 * command changes is kept together with its having been obeyed; what is to be seen of it is a job's work, so GitHub
 * stumbling repeats no answer.
 */
export async function plan(app: App, order: Order): Promise<void> {
  const { issue } = order.spoken;
  const { argument } = order.command;
  const known = await findOpenSession(app, order);
  if (known === undefined) {
    const goal = [plain(`${issue.title}\n\n${issue.body}`), argument && `Above all: ${plain(argument)}`];
    await startWizard(
      app,
      order.repository.projectId,
      order.userId,
      {
        goal: oneLine(goal.filter(Boolean).join('\n\n'), 10_000),
        repositoryId: order.repository.id,
        issue: { repositoryId: order.repository.id, number: issue.number },
      },
      (em, id) => obeyed(app, order, em, id),
    );
    return;
  }
  if (argument !== '') {
    if (known.status !== 'tasks_ready')
      throw new Refused('plan with a text requires a plan that is written, found questions open; answer them first');
    for (const part of parts) await generate(app, known, part, plain(argument));
  }
  await app.db.transaction((em) => obeyed(app, order, em, known.id));
}

async function obeyed(app: App, order: Order, em: EntityManager, sessionId: string): Promise<void> {
  const { projectId } = order.repository;
  await order.remember(em);
  await app.queue.send(em, 'plan', { projectId, sessionId, goesOn: true }, { key: `${sessionId} on` });
}

/** Takes the answer to the open question; after the last one the plan is written. */
export async function answerPlan(app: App, order: Order): Promise<void> {
  const session = await sessionOf(app, order);
  const step = currentStep(session);
  if (step === undefined) throw new Refused('answer requires an open question, found none');
  const text = order.command.argument;
  if (text === '') throw new Refused('answer requires numbers of options or your own words behind it, found nothing');
  const isNumbers = step.options.length > 0 && /^\d{1,2}(\s*,\s*\d{1,2})*$/.test(text);
  const numbers = isNumbers ? text.split(',').map(Number) : [];
  const selectedOptionIds = numbers.map((n) => {
    const option = step.options[n - 1];
    if (option === undefined)
      throw new Refused(`answer requires a number from 1 to ${step.options.length}, found ${n}`);
    return option.id;
  });
  const answer = { stepId: step.id, selectedOptionIds, customText: isNumbers ? '' : plain(text) };
  await answerWizard(app, session, answer, (em, id) => obeyed(app, order, em, id));
}

/** Makes the sprint of the plan. */
export async function approvePlan(app: App, order: Order): Promise<void> {
  await finalizeWizard(app, await sessionOf(app, order), order.userId, {}, order.remember);
}

/** Starts the sprint that the last approved plan of the issue became; false when it holds none. */
export async function startPlanned(app: App, order: Order): Promise<boolean> {
  const { repository, spoken } = order;
  const made = await findSessionOfIssue(app.db.manager, repository.id, spoken.issue.number, 'finalized');
  if (made?.result == null) return false;
  if ((await findOpenSession(app, order)) !== undefined)
    throw new Refused('start requires no open plan in this issue, found one; approve it first');
  await startSprint(app, made.result.sprint.id, order.userId, order.remember);
  return true;
}

function findOpenSession(app: App, { repository, spoken }: Order): Promise<Session | undefined> {
  return findSessionOfIssue(app.db.manager, repository.id, spoken.issue.number, 'open');
}

/** The one that is open, else the last one. */
async function sessionOf(app: App, order: Order): Promise<Session> {
  const { repository, spoken, command } = order;
  const session =
    (await findOpenSession(app, order)) ??
    (await findSessionOfIssue(app.db.manager, repository.id, spoken.issue.number, 'finalized'));
  if (session === undefined)
    throw new Refused(`${command.verb} requires a plan in this issue, found none; begin with plan`);
  return session;
}

const parts = ['prd', 'plan', 'tasks'] as const;

/**
 * Shows a plan in its issue as it is now and, once all is answered, writes what is not written yet; the handler of the
 * `plan` job. When the model fails the comment says so, and `plan` goes on from there.
 */
export async function advancePlan(
  app: App,
  { projectId, sessionId, goesOn }: { projectId: string; sessionId: string; goesOn: boolean },
): Promise<void> {
  await app.db.turn(`plan ${sessionId}`, async () => {
    const session = await getSession(app.db.manager, projectId, sessionId);
    await show(app, session, '');
    if (!goesOn || session.status === 'collecting' || session.status === 'finalized') return;
    const missing = parts.filter((part) => session[part] === null);
    try {
      for (const part of missing) await generate(app, session, part, '');
    } catch (error) {
      if (error instanceof Refused) return;
      if (!(error instanceof AppError)) throw error;
      return show(app, session, `😕 The plan could not be written: ${error.message}`);
    }
    if (missing.length > 0) await show(app, session, '');
  });
}

async function show(app: App, session: Session, notice: string): Promise<void> {
  const place =
    session.issueRepositoryId === null ? undefined : await placeOfRepository(app, session.issueRepositoryId);
  if (place === undefined || session.issueNumber === null) return;
  const rows: { id: string; name: string }[] = await app.db.manager.query(
    'select id, name from agents where id = any($1)',
    [(session.tasks ?? []).flatMap((task) => task.owner ?? [])],
  );
  const agents = new Map(rows.map((r) => [r.id, r.name]));
  const body = planComment(session, app.config.COMMAND_PREFIX, agents, notice);
  const at = { ...place.name, issue_number: session.issueNumber };
  await sayOnce(app, place.octokit, at, planMarker, body).catch((error) => {
    // Locked, deleted or transferred: there is nowhere to show it.
    if (!isRefusedWith(error, 403, 404, 410)) throw error;
  });
}
