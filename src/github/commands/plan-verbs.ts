import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { AuditAction } from '../../domain/audit/action.ts';
import { Refused } from '../../domain/machine.ts';
import { oneLine, plain } from '../../domain/text/sanitize.ts';
import { AppError } from '../../errors.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { finalizeWizard } from '../../planning/finalize.ts';
import { answerWizard, currentStep, generate, startWizard } from '../../planning/operations.ts';
import { findSessionOfIssue, getSession, type Session } from '../../planning/store.ts';
import { startSprint } from '../../sprints/operations.ts';
import { placeOfRepository } from '../place.ts';
import { listAgentNames } from '../store.ts';
import type { GivenCommand } from './given-command.ts';
import { planComment, planMarker } from './plan-comment.ts';
import { sayOnce } from './replies.ts';

/**
 * Starts a planning session from an issue, continues it, or rewrites its plan as the command's argument asks. The
 * command is recorded as handled in the transaction of its change. A job then shows the result on GitHub, so a failure
 * of GitHub does not repeat the command.
 */
export async function plan(app: App, given: GivenCommand): Promise<void> {
  const { issue } = given.source;
  const { argument } = given.command;
  const known = await findOpenSession(app, given);
  if (known === undefined) {
    const goal = [plain(`${issue.title}\n\n${issue.body}`), argument && `Above all: ${plain(argument)}`];
    await startWizard(
      app,
      given.repository.projectId,
      given.userId,
      {
        goal: oneLine(goal.filter(Boolean).join('\n\n'), 10_000),
        repositoryId: given.repository.id,
        issue: { repositoryId: given.repository.id, number: issue.number },
      },
      (em, id) => continueLater(app, given, em, id),
    );
    return;
  }
  app.audit.about({ type: 'wizard', id: known.id, projectId: known.projectId });
  if (argument !== '') {
    if (known.status !== 'tasks_ready')
      throw new Refused('There is no plan to rewrite yet. Answer the open questions first.');
    for (const part of parts) await generate(app, known, part, plain(argument));
  }
  await app.db.transaction((em) => continueLater(app, given, em, known.id));
}

/** Records the command as handled and queues the job that shows and continues the plan. */
async function continueLater(app: App, given: GivenCommand, em: EntityManager, sessionId: string): Promise<void> {
  const { projectId } = given.repository;
  await given.remember(em);
  await app.queue.send(em, 'plan', { projectId, sessionId, goesOn: true }, { key: `${sessionId} on` });
}

/** Answers the open question. After the last answer, the plan is written. */
export async function answerPlan(app: App, given: GivenCommand): Promise<void> {
  const session = await sessionOf(app, given, 'wizard.answer');
  const step = currentStep(session);
  if (step === undefined) throw new Refused('The plan has no open question.');
  const text = given.command.argument;
  if (text === '') throw new Refused('Write the numbers of options, or your own words, after `answer`.');
  const isNumbers = step.options.length > 0 && /^\d{1,2}(\s*,\s*\d{1,2})*$/.test(text);
  const numbers = isNumbers ? text.split(',').map(Number) : [];
  const selectedOptionIds = numbers.map((n) => {
    const option = step.options[n - 1];
    if (option === undefined) throw new Refused(`There is no option ${n}. Choose from 1 to ${step.options.length}.`);
    return option.id;
  });
  const answer = { stepId: step.id, selectedOptionIds, customText: isNumbers ? '' : plain(text) };
  await answerWizard(app, session, answer, (em, id) => continueLater(app, given, em, id));
}

/** Creates the sprint of the plan. */
export async function approvePlan(app: App, given: GivenCommand): Promise<void> {
  await finalizeWizard(app, await sessionOf(app, given, 'wizard.finalize'), given.userId, {}, given.remember);
}

/** Starts the sprint of the issue's most recently approved plan. Returns false when the issue has no such plan. */
export async function startPlanned(app: App, given: GivenCommand): Promise<boolean> {
  const { repository, source } = given;
  const made = await findSessionOfIssue(app.db.manager, repository.id, source.issue.number, 'finalized');
  if (made?.result == null) return false;
  if ((await findOpenSession(app, given)) !== undefined)
    throw new Refused('This issue has an open plan. Approve it before you start.');
  const { id } = made.result.sprint;
  app.audit.about({ type: 'sprint', id, projectId: made.projectId }, 'sprint.start');
  await startSprint(app, id, given.userId, given.remember);
  return true;
}

function findOpenSession(app: App, { repository, source }: GivenCommand): Promise<Session | undefined> {
  return findSessionOfIssue(app.db.manager, repository.id, source.issue.number, 'open');
}

/** Finds the open plan of the issue, or else the one approved last. */
async function findSession(app: App, given: GivenCommand): Promise<Session | undefined> {
  const { repository, source } = given;
  const open = await findOpenSession(app, given);
  return open ?? findSessionOfIssue(app.db.manager, repository.id, source.issue.number, 'finalized');
}

/** Returns whether the issue has a plan for a sprint, open or approved. */
export async function hasPlan(app: App, given: GivenCommand): Promise<boolean> {
  return (await findSession(app, given)) !== undefined;
}

/** @throws Refused when the issue has no plan */
async function sessionOf(app: App, given: GivenCommand, action: AuditAction): Promise<Session> {
  const session = await findSession(app, given);
  if (session === undefined)
    throw new Refused(`This issue has no plan. Use \`plan\` before \`${given.command.verb}\`.`);
  app.audit.about({ type: 'wizard', id: session.id, projectId: session.projectId }, action);
  return session;
}

const parts = ['prd', 'plan', 'tasks'] as const;

/**
 * Handles the `plan` job: shows a plan in its issue and, once all questions are answered, writes the missing parts.
 * When the model fails, the comment says so, and the command `plan` continues from that point.
 */
export async function advancePlan(
  app: App,
  { projectId, sessionId, goesOn }: { projectId: string; sessionId: string; goesOn: boolean },
): Promise<void> {
  await app.db.withLock(`plan ${sessionId}`, async () => {
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
  const owners = (session.tasks ?? []).flatMap((task) => task.owner ?? []);
  const agents = await listAgentNames(app.db.manager, owners);
  const body = planComment(session, app.config.COMMAND_PREFIX, agents, notice);
  const at = { ...place.name, issue_number: session.issueNumber };
  await sayOnce(app, place.octokit, at, planMarker, body).catch((error) => {
    // The issue was locked, deleted or transferred, so no comment can be written.
    if (!isRefusedWith(error, 403, 404, 410)) throw error;
  });
}
