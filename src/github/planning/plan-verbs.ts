import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { Refused } from '../../domain/machine.ts';
import { mayReveal } from '../../domain/settings.ts';
import { oneLine, plain } from '../../domain/text/sanitize.ts';
import { asShown } from '../../markdown/as-shown.ts';
import { deleteWizard } from '../../planning/edit.ts';
import { finalizeWizard } from '../../planning/finalize.ts';
import { type Answer, answerWizard, currentStep, startWizard, wishForChange } from '../../planning/operations.ts';
import { findSessionOfIssue, type Session } from '../../planning/store.ts';
import { withConnected } from '../../planning/view.ts';
import { findProject, findUser } from '../../projects/store.ts';
import { rightProblemIn } from '../../repositories/rights.ts';
import { listProjectRepositories } from '../../repositories/store.ts';
import { lastEditOf } from '../../repositories/voices.ts';
import { startSprint } from '../../sprints/operations.ts';
import { listSprintRepositories } from '../../sprints/store.ts';
import { findOwnComment } from '../comments.ts';
import { assertSeen, type GivenCommand, issueOf, textOf } from '../given-command.ts';
import { planMarker, readTicks } from './plan-comment.ts';

/** Characters of a goal, and of what a person wants to be different. */
const maxChars = 10_000;
/** GitHub allows 256 characters. */
const maxTitle = 300;

/**
 * Starts a planning session from an issue, continues it, or rewrites its plan as the command's argument asks. The
 * command is recorded as handled in the transaction of its change. A job then asks the model and shows the result on
 * GitHub, so a failure of either does not repeat the command.
 */
export async function plan(app: App, given: GivenCommand): Promise<void> {
  const { issue } = given.source;
  const { argument } = given.command;
  const known = await findOpenSession(app, given);
  if (known === undefined) {
    const { title, shown } = issueOf(given);
    const rest = [shown, argument && `Above all: ${await asShown(argument)}`].filter(Boolean).join('\n\n');
    // The title has a line of its own, because it names the plan.
    const goal = `${oneLine(plain(title), maxTitle)}\n\n${oneLine(rest, maxChars - maxTitle - 2)}`;
    await startWizard(
      app,
      given.repository.projectId,
      given.userId,
      {
        goal: goal.trim(),
        repositoryIds: await repositoriesFor(app, given),
        issue: { repositoryId: given.repository.id, number: issue.number },
        isAskedLater: true,
      },
      (em, id) => continueLater(app, given, em, id),
    );
    return;
  }
  app.audit.about({ type: 'wizard', id: known.id, projectId: known.projectId });
  if (argument === '') return app.db.transaction((em) => continueLater(app, given, em, known.id));
  if (known.status !== 'tasks_ready')
    throw new Refused('There is no plan to rewrite yet. Answer the open questions first.');
  const wish = await asShown(argument);
  if (wish.length > maxChars)
    throw new Refused(`Write at most ${maxChars} characters after \`plan\`; these are ${wish.length}.`);
  await wishForChange(app, known, { wish, userId: given.userId }, (em, id) => continueLater(app, given, em, id));
}

/** At most this many repositories belong to one plan. */
const maxRepositories = 100;

/** Returns the repository of the issue and the others of the project whose content may be shown there. */
async function repositoriesFor(app: App, { repository }: GivenCommand): Promise<string[]> {
  const all = await listProjectRepositories(app.db.manager, repository.projectId);
  const project = await findProject(app.db.manager, repository.projectId);
  const others = all.filter((other) => other.id !== repository.id && mayReveal(other, repository, project));
  return [repository, ...others].slice(0, maxRepositories).map(({ id }) => id);
}

/** Records the command as handled and queues the job that shows and continues the plan. */
async function continueLater(app: App, given: GivenCommand, em: EntityManager, sessionId: string): Promise<void> {
  await given.remember(em);
  await goOnLater(app, em, { id: sessionId, projectId: given.repository.projectId });
}

/** Queues the job that shows and continues a plan. */
export async function goOnLater(app: App, em: EntityManager, { id, projectId }: Pick<Session, 'id' | 'projectId'>) {
  await app.queue.send(em, 'plan', { projectId, sessionId: id, goesOn: true }, { key: `${id} on` });
}

/**
 * Answers the open question with the numbers of options, with text or with both, or else with the options that are ticked in the
 * comment of the plan. After the last answer, the plan is written.
 */
export async function answerSprintPlan(app: App, given: GivenCommand): Promise<void> {
  const session = await sessionOf(app, given, 'wizard.answer');
  const step = currentStep(session);
  if (step === undefined) throw new Refused('The plan has no open question.');
  const at = step.askedAt === undefined ? session.updatedAt : new Date(step.askedAt);
  assertSeen(given, { what: 'This question was asked', at });
  const text = textOf(given);
  const [first = '', ...words] = text.split('\n');
  const isNumbers = step.options.length > 0 && /^\d{1,2}(\s*,\s*\d{1,2})*$/.test(first.trim());
  const numbers = isNumbers
    ? first.split(',').map(Number)
    : text === ''
      ? await tickedNumbers(app, given, step.id)
      : [];
  if (text === '' && numbers.length === 0)
    throw new Refused('Write the numbers of options, or your own words, after `answer`, or tick options first.');
  const customText = isNumbers ? words.join('\n').trim() : text;
  const answer = answerOf(step, numbers, customText);
  await answerWizard(app, session, answer, { isAskedLater: true, answeredBy: given.userId }, (em, id) =>
    continueLater(app, given, em, id),
  );
}

/** Builds an answer from the numbers of options. @throws Refused for a number without an option */
export function answerOf(step: NonNullable<ReturnType<typeof currentStep>>, numbers: number[], text: string): Answer {
  const selectedOptionIds = numbers.map((n) => {
    const option = step.options[n - 1];
    if (option === undefined) throw new Refused(`There is no option ${n}. Choose from 1 to ${step.options.length}.`);
    return option.id;
  });
  return { stepId: step.id, selectedOptionIds, customText: text };
}

/**
 * Returns the options that are ticked in the comment of a plan. A command is about the ticks that its author saw.
 * @throws Refused when somebody else ticked since then, or GitHub does not say who ticked
 */
async function tickedNumbers(app: App, given: GivenCommand, stepId: string): Promise<number[]> {
  const { at, source, userId } = given;
  const issue = { ...at.name, issue_number: source.issue.number };
  const comment = await findOwnComment(app, at.octokit, issue, planMarker);
  const ticks = readTicks(comment?.body ?? '');
  if (comment === undefined || ticks?.stepId !== stepId || ticks.numbers.length === 0) return [];
  const edit = await lastEditOf(at.octokit, comment);
  if (edit === undefined)
    throw new Refused('GitHub does not say who ticked the options. Write their numbers after `answer`.');
  const person = await findUser(app.db.manager, userId);
  const by = person?.githubId === edit.by.id ? userId : null;
  assertSeen(given, { what: 'Somebody else ticked options', at: edit.at, by });
  return ticks.numbers;
}

/**
 * Creates the sprint of the plan. People who approve it on GitHub need not be members of the project. They need write
 * permission in each repository in which a task of the plan will work.
 */
export async function approveSprintPlan(app: App, given: GivenCommand): Promise<void> {
  const session = await sessionOf(app, given, 'wizard.finalize');
  const { result, updatedAt, updatedBy } = session;
  // An answer of the writer makes the model change the plan, so their own changes are not seen by themselves.
  const by = updatedBy?.id === given.userId ? undefined : updatedBy?.id;
  if (result === null) assertSeen(given, { what: 'The plan changed', at: updatedAt, by });
  const planned = await withConnected(app.db.manager, session.projectId, session.tasks ?? []);
  const works = [...session.repositoryIds.slice(0, 1), ...planned.flatMap((task) => task.repositoryId ?? [])];
  await assertMayWriteIn(app, given, works);
  await finalizeWizard(app, session, given.userId, {}, given.remember);
}

/** @throws AppError 403 unless the person may write to all these repositories, 502 if GitHub cannot be asked */
async function assertMayWriteIn(app: App, { repository, userId }: GivenCommand, ids: string[]): Promise<void> {
  const elsewhere = ids.filter((id) => id !== repository.id);
  const problem = await rightProblemIn(app, [userId], elsewhere, 'write');
  if (problem !== undefined) throw problem;
}

/** Deletes the open plan of the issue. Returns false if the issue has no open plan. */
export async function abandonPlan(app: App, given: GivenCommand): Promise<boolean> {
  const session = await findOpenSession(app, given);
  if (session === undefined) return false;
  assertSeen(given, { what: 'This plan began', at: session.createdAt });
  app.audit.about({ type: 'wizard', id: session.id, projectId: session.projectId }, 'wizard.delete');
  await deleteWizard(app, session, given.remember);
  return true;
}

/**
 * Starts the sprint of the issue's most recently approved plan. The person needs write permission in each repository in
 * which a task of the sprint works. Returns false when the issue has no such plan.
 */
export async function startPlanned(app: App, given: GivenCommand): Promise<boolean> {
  const { repository, source } = given;
  const made = await findSessionOfIssue(app.db.manager, repository.id, source.issue.number, 'finalized');
  if (made?.result == null) return false;
  if ((await findOpenSession(app, given)) !== undefined)
    throw new Refused('This issue has an open plan. Approve it before you start.');
  assertSeen(given, { what: 'The plan was approved', at: made.updatedAt, by: made.updatedBy?.id });
  const { id } = made.result.sprint;
  app.audit.about({ type: 'sprint', id, projectId: made.projectId }, 'sprint.start');
  await assertMayWriteIn(app, given, await listSprintRepositories(app.db.manager, id));
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
