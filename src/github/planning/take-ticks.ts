import type { App } from '../../app.ts';
import { Refused } from '../../domain/machine.ts';
import type { Step } from '../../domain/wizard.ts';
import { AppError } from '../../errors.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { answerWizard, currentStep } from '../../planning/operations.ts';
import type { Session } from '../../planning/session.ts';
import { findSessionOfIssue } from '../../planning/store.ts';
import { type GitHubUser, upsertUser } from '../../projects/store.ts';
import { asWriter } from '../../repositories/permission.ts';
import type { Place } from '../place.ts';
import { showPlanComment } from './advance-plan.ts';
import { planMarker } from './plan-comment.ts';
import { answerOf, goOnLater } from './plan-verbs.ts';
import { readTicks } from './read-ticks.ts';

interface Edited {
  number: number;
  commentId: number;
  sender: GitHubUser;
}

/**
 * Answers the open question of a plan with the options that a person ticked in its comment, once they tick the box that
 * sends them. What GitHub shows now counts, so ticks for an earlier question are ignored.
 */
export async function takeTicks(app: App, place: Place, { number, commentId, sender }: Edited): Promise<void> {
  if (sender.type === 'Bot') return;
  const { octokit, name, repository } = place;
  await app.db.withLock(`plan ${repository.githubId}/${number}`, async () => {
    const ticks = readTicks((await planCommentBody(app, place, commentId)) ?? '');
    const session = await findSessionOfIssue(app.db.manager, repository.id, number, 'open');
    const step = session === undefined ? undefined : currentStep(session);
    if (!ticks?.isSent || session === undefined || step?.id !== ticks.stepId) return;
    const writer = await asWriter(octokit, name, sender);
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

/** Returns the text of a comment if it is our own comment of a plan. */
async function planCommentBody(app: App, { octokit, name }: Place, commentId: number): Promise<string | undefined> {
  const bot = await app.github?.bot();
  const path = 'GET /repos/{owner}/{repo}/issues/comments/{comment_id}';
  try {
    const { data } = await octokit.request(path, { ...name, comment_id: commentId });
    return data.user?.id === bot?.id && data.body?.startsWith(planMarker) ? data.body : undefined;
  } catch (error) {
    if (isRefusedWith(error, 404, 410)) return undefined;
    throw error;
  }
}
