import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import { planParts, type Step } from '../../domain/wizard.ts';
import { AppError } from '../../errors.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { generate } from '../../planning/generate.ts';
import { answerWizard, askNext, currentStep } from '../../planning/operations.ts';
import { listNameable } from '../../planning/prompts.ts';
import { findSessionOfIssue, getSession, lockSession, type Session, updateSession } from '../../planning/store.ts';
import { outlookOf } from '../../planning/view.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';
import type { Jobs } from '../../queue/names.ts';
import { asWriter } from '../../repositories/permission.ts';
import { lastEditOf } from '../../repositories/voices.ts';
import { type Place, placeOfRepository } from '../app/place.ts';
import { sayOnce } from '../comments.ts';
import { listAgentNames } from '../store.ts';
import { deletedPlan, planComment, planMarker, readTicks } from './plan-comment.ts';
import { answerOf, goOnLater } from './plan-verbs.ts';

/**
 * Handles the `plan` job: shows a plan in its issue, asks the next question and, once all are answered, writes the
 * missing parts. When the model fails, the comment says so, and the command `plan` continues from that point.
 */
export async function advancePlan(app: App, job: Jobs['plan']): Promise<void> {
  const { projectId, sessionId, goesOn, deletedFrom } = job;
  if (deletedFrom !== undefined) return showDeleted(app, deletedFrom);
  await app.db.withLock(`plan ${sessionId}`, async () => {
    const session = await getSession(app.db.manager, projectId, sessionId).catch(noneIfDeleted);
    if (session === undefined) return;
    await showPlanComment(app, session, '');
    if (!goesOn || session.status === 'finalized' || currentStep(session) !== undefined) return;
    try {
      await goOn(app, session);
    } catch (error) {
      if (!(error instanceof Refused || error instanceof AppError)) throw error;
      const now = await app.db.transaction((em) => endWish(app, em, session));
      if (now === undefined || error instanceof Refused) return;
      await showPlanComment(app, now, `😕 The plan could not be continued: ${error.message}`);
    }
  });
}

/** Returns undefined in place of a plan that was deleted. Another job says so in the issue. */
function noneIfDeleted(error: unknown): undefined {
  if (!(error instanceof AppError && error.status === 404)) throw error;
}

/**
 * Removes a wish that could not be carried out, because a plan with a wish cannot be approved. If the plan has changed
 * since it was read, tries the wish again instead. Keeps the wish while tasks are missing, so that `plan` continues with
 * it. Returns the plan as it is now; undefined when it was deleted.
 */
async function endWish(app: App, em: EntityManager, read: Session): Promise<Session | undefined> {
  const now = await lockSession(em, read.projectId, read.id).catch(noneIfDeleted);
  if (now === undefined || now.wish === null) return now;
  if (now.version !== read.version) await goOnLater(app, em, now);
  else if (now.tasks !== null) await updateSession(em, now, { wish: null });
  return now;
}

async function goOn(app: App, session: Session): Promise<void> {
  if (session.status === 'collecting') {
    const isAsked = await askNext(app, session);
    await showPlanComment(app, session, '');
    if (isAsked) return;
  }
  // A wish rewrites the whole plan. Afterwards, and after a failure in between, only the missing parts are written.
  const isRewrite = session.wish !== null && session.tasks !== null;
  for (const part of isRewrite ? planParts : planParts.filter((each) => session[each] === null)) {
    const wanted = { feedback: session.wish ?? '', userId: session.createdBy, also: async () => {} };
    await generate(app, session, part, wanted);
    await showPlanComment(app, session, '');
  }
}

/** Shows a plan in its issue. `notice` is a sentence about what just happened. */
async function showPlanComment(app: App, session: Session, notice: string): Promise<void> {
  if (session.issueRepositoryId === null || session.issueNumber === null) return;
  const em = app.db.manager;
  const owners = (session.tasks ?? []).flatMap((task) => task.owner ?? []);
  const repositories = await listNameable(app, session);
  const known = {
    agents: await listAgentNames(em, owners),
    repositories: new Map(repositories.map(({ id, name }) => [id, name])),
    outlook: await outlookOf(em, session),
  };
  const body = planComment(session, app.config.COMMAND_PREFIX, known, notice);
  await say(app, { repositoryId: session.issueRepositoryId, number: session.issueNumber }, body);
}

async function showDeleted(app: App, issue: { repositoryId: string; number: number }): Promise<void> {
  const isNew = await findSessionOfIssue(app.db.manager, issue.repositoryId, issue.number, 'open');
  if (isNew === undefined) await say(app, issue, deletedPlan(app.config.COMMAND_PREFIX));
}

async function say(app: App, issue: { repositoryId: string; number: number }, body: string): Promise<void> {
  const place = await placeOfRepository(app, issue.repositoryId);
  if (place === undefined) return;
  const at = { ...place.name, issue_number: issue.number };
  await sayOnce(app, place.octokit, at, planMarker, body).catch((error) => {
    // The issue was locked, deleted or transferred, so no comment can be written.
    if (!isRefusedWith(error, 403, 404, 410)) throw error;
  });
}

interface Edited {
  number: number;
  commentId: number;
  sender: GitHubUser;
}

/**
 * Answers the open question of a plan with the options that a person ticked in its comment, once they tick the box that
 * sends them. What GitHub shows now counts, so ticks for an earlier question are ignored. So does who edited the comment
 * last, and saw all ticks: the event may be about an earlier edit by somebody else.
 */
export async function takeTicks(app: App, place: Place, { number, commentId, sender }: Edited): Promise<void> {
  if (sender.type === 'Bot') return;
  const { octokit, name, repository } = place;
  await app.db.withLock(`plan ${repository.githubId}/${number}`, async () => {
    const session = await findSessionOfIssue(app.db.manager, repository.id, number, 'open');
    // Anybody may edit a comment that looks like one of ours, so GitHub is asked only about an issue that has a plan.
    if (session === undefined) return;
    const comment = await findPlanComment(app, place, commentId);
    const ticks = readTicks(comment?.body ?? '');
    const step = currentStep(session);
    if (comment === undefined || !ticks?.isSent || step?.id !== ticks.stepId) return;
    const edit = await lastEditOf(octokit, comment);
    if (edit === undefined)
      return showPlanComment(app, session, 'GitHub does not say who ticked the options. Tick them again.');
    const writer = await asWriter(octokit, name, edit.by);
    if (writer === undefined) return showPlanComment(app, session, '');
    if (ticks.numbers.length === 0) return showPlanComment(app, session, 'Tick at least one option before you send.');
    const { id: userId } = await upsertUser(app.db.manager, writer);
    await answerTicked(app, { session, step, userId, numbers: ticks.numbers });
  });
}

interface Ticked {
  session: Session;
  step: Step;
  userId: string;
  numbers: number[];
}

async function answerTicked(app: App, { session, step, userId, numbers }: Ticked): Promise<void> {
  const object = { type: 'wizard', id: session.id, projectId: session.projectId } as const;
  try {
    const answer = answerOf(step, numbers, '');
    await app.audit.during({ userId, via: 'comment', action: 'wizard.answer', object }, () =>
      answerWizard(app, session, answer, { isAskedLater: true, answeredBy: userId }, (em) =>
        goOnLater(app, em, session),
      ),
    );
  } catch (error) {
    if (!(error instanceof Refused || error instanceof AppError)) throw error;
    await showPlanComment(app, session, `😕 The answer was refused: ${error.message}`);
  }
}

/** Finds a comment if it is our own comment of a plan. */
async function findPlanComment(app: App, { octokit, name }: Place, commentId: number) {
  const bot = await app.github?.bot();
  const path = 'GET /repos/{owner}/{repo}/issues/comments/{comment_id}';
  try {
    const { data } = await octokit.request(path, { ...name, comment_id: commentId });
    return data.user?.id === bot?.id && data.body?.startsWith(planMarker) ? data : undefined;
  } catch (error) {
    if (isRefusedWith(error, 404, 410)) return undefined;
    throw error;
  }
}
