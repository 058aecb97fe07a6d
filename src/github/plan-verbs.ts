import type { App } from '../app.ts';
import { Refused } from '../domain/machine.ts';
import { oneLine, plain } from '../domain/quoted.ts';
import { finalizeWizard } from '../planning/finalize.ts';
import { answerWizard, currentStep, generate, startWizard } from '../planning/operations.ts';
import { findSessionOfIssue, type Session } from '../planning/store.ts';
import { startSprint } from '../sprints/operations.ts';
import type { Order } from './order.ts';
import { planComment, planMarker } from './plan-comment.ts';
import { sayOnce } from './replies.ts';

/** Begins to plan from an issue, goes on where it stopped, or writes the plan anew with what should be different. */
export async function plan(app: App, order: Order): Promise<void> {
  const { issue } = order.spoken;
  const known = await findSessionOfIssue(app.db.manager, order.repository.id, issue.number);
  const feedback = order.command.argument;
  if (known !== undefined && known.status !== 'finalized') return goOn(app, order, known, feedback);
  const session = await startWizard(app, order.repository.projectId, order.userId, {
    goal: oneLine(plain(`${issue.title}\n\n${issue.body}`), 10_000),
    repositoryId: order.repository.id,
    issue: { repositoryId: order.repository.id, number: issue.number },
  });
  await show(app, order, session);
}

/** Takes the answer to the open question; after the last one the plan is written. */
export async function answerPlan(app: App, order: Order): Promise<void> {
  const session = await sessionOf(app, order);
  const step = currentStep(session);
  if (step === undefined) throw new Refused('answer requires an open question, found none');
  const text = order.command.argument;
  if (text === '') throw new Refused('answer requires numbers of options or your own words behind it, found nothing');
  const isNumbers = /^\d{1,2}(\s*,\s*\d{1,2})*$/.test(text);
  const numbers = isNumbers ? text.split(',').map(Number) : [];
  const selectedOptionIds = numbers.map((n) => {
    const option = step.options[n - 1];
    if (option === undefined)
      throw new Refused(`answer requires a number from 1 to ${step.options.length}, found ${n}`);
    return option.id;
  });
  const answer = { stepId: step.id, selectedOptionIds, customText: isNumbers ? '' : plain(text) };
  await goOn(app, order, await answerWizard(app, session, answer), '');
}

/** Makes the sprint of the plan. */
export async function approvePlan(app: App, order: Order): Promise<void> {
  const session = await sessionOf(app, order);
  const { made } = await finalizeWizard(app, session, order.userId, {});
  await show(app, order, { ...session, status: 'finalized', result: made });
}

/** Starts the sprint that a plan became; false when the issue holds no approved plan. */
export async function startPlanned(app: App, order: Order): Promise<boolean> {
  const session = await findSessionOfIssue(app.db.manager, order.repository.id, order.spoken.issue.number);
  if (session?.result == null) return false;
  await startSprint(app, session.result.sprint.id, order.userId);
  return true;
}

async function sessionOf(app: App, order: Order): Promise<Session> {
  const session = await findSessionOfIssue(app.db.manager, order.repository.id, order.spoken.issue.number);
  if (session === undefined)
    throw new Refused(`${order.command.verb} requires a plan in this issue, found none; begin with plan`);
  return session;
}

/** Shows each part as soon as it is there; when the model fails in between, `plan` goes on from there. */
async function goOn(app: App, order: Order, session: Session, feedback: string): Promise<void> {
  await show(app, order, session);
  if (session.status === 'collecting') return;
  const isAnew = feedback !== '' && session.status === 'tasks_ready';
  const parts = (['prd', 'plan', 'tasks'] as const).filter((part) => isAnew || session[part] === null);
  for (const part of parts) await generate(app, session, part, feedback);
  if (parts.length > 0) await show(app, order, session);
}

async function show(app: App, { at, spoken }: Order, session: Session): Promise<void> {
  const rows: { id: string; name: string }[] = await app.db.manager.query(
    'select id, name from agents where id = any($1)',
    [(session.tasks ?? []).flatMap((task) => task.owner ?? [])],
  );
  const agents = new Map(rows.map((r) => [r.id, r.name]));
  const body = planComment(session, app.config.COMMAND_PREFIX, agents);
  await sayOnce(app, at.octokit, { ...at.name, issue_number: spoken.issue.number }, planMarker, body);
}
