import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { ReviewArguments } from '../../conversation/reviewing/review-call.ts';
import { newId } from '../../db/ids.ts';
import { notRun } from '../../domain/proof/proof.ts';
import { type Choice, type ChosenRemark, chooseRemarks } from '../../domain/reviewing/choose-comments.ts';
import { RunFailed } from '../../domain/run.ts';
import { runPage } from '../../domain/task.ts';
import { concludeRun } from '../../runs/journal.ts';
import {
  findAsk,
  insertNote,
  listNotesOfRun,
  markReviewPosted,
  type PullAsk,
  type ReviewNote,
} from '../../runs/reviewing/store.ts';
import { writeSummary } from '../../runs/reviewing/summary-comment.ts';
import { tryMoveTask } from '../../tasks/move.ts';
import { insertHandoff } from '../../tasks/work-store.ts';
import type { Limited, Work } from '../work.ts';
import type { Signals } from '../workspace/workspace.ts';
import { converseAboutPull } from './converse.ts';
import { placeOfPull, postReview } from './post-review.ts';
import { readFeedback } from './read-feedback.ts';
import { summaryText } from './review-texts.ts';
import { isEmpty, type Scope, scopeOf } from './scope.ts';
import { provePull, tryChecks, withTriedSuggestions } from './try-checks.ts';

/**
 * Reviews a pull request: reads what people said of earlier comments, runs the checks, lets the agent read and write a
 * review, chooses its comments, tries its suggestions, and posts one review and one summary. Nothing is pushed. Every step is
 * recorded, so a worker that takes over posts nothing twice.
 */
export async function reviewPull(app: App, given: Limited, work: Work, signals: Signals): Promise<void> {
  const { journal, run } = work;
  const em = app.db.manager;
  const ask = await findAsk(em, run.id);
  if (ask === undefined) throw new RunFailed('internal', 'nobody knows which pull request this run reviews');
  work.isForeign = ask.isFork;
  await readFeedback(app, work);
  const scope = await scopeOf(em, work, ask);
  if (isEmpty(scope.allowed)) {
    const why =
      scope.rounds === 0 ? 'the pull request changes no line of text' : 'nothing has changed since the last review';
    return succeed(app, work, `Nothing was reviewed: ${why}.`);
  }
  const tried = await tryChecks(work, ask);
  const review = await converseAboutPull(app, given, work, signals, { ask, scope, tried });
  const notes = await chooseNotes(
    work,
    ask,
    { review, scope },
    (remarks) => withTriedSuggestions(work, remarks, tried),
    em,
  );
  const proof = await provePull(work, tried);
  if (await isOutdated(app, work, ask)) {
    await journal.note('review', 'the pull request has newer commits, so nothing was posted');
    return succeed(app, work, 'The pull request got newer commits during the review, so nothing was posted.', (tx) =>
      app.queue.send(
        tx,
        'review',
        { repositoryId: ask.repositoryId, number: ask.number, after: run.id },
        { key: run.id },
      ),
    );
  }
  await journal.once('review posted', async () => {
    await work.retrying(() => postReview(app, work, ask, notes));
    return {};
  });
  const text = summaryText(
    {
      headSha: ask.headSha,
      summary: objectionFree(work, review.summary)
        ? review.summary
        : 'The summary was left out, because it contained a credential.',
      comments: notes.length,
      tried,
      proof: proof ?? notRun('it was not tried'),
      round: scope.rounds + 1,
      page: runPage(app.config.BASE_URL, run.taskId, run.id),
    },
    app.config.COMMAND_PREFIX,
  );
  await journal.once('review summary', async () => {
    await work.retrying(async () => writeSummary(app, await placeOfPull(app, work, ask.number), text));
    return {};
  });
  await journal.note('review', `posted ${notes.length} ${notes.length === 1 ? 'comment' : 'comments'}`);
  await succeed(app, work, review.summary, (tx) => markReviewPosted(tx, run.id));
}

/** Chooses the comments of a review and stores them, once. */
async function chooseNotes(
  work: Work,
  ask: PullAsk,
  { review, scope }: { review: ReviewArguments; scope: Scope },
  trySuggestions: (remarks: ChosenRemark[]) => Promise<ChosenRemark[]>,
  em: EntityManager,
): Promise<ReviewNote[]> {
  const { journal, run } = work;
  const step = 'review chosen';
  if ((await journal.recall(step)) !== undefined) return listNotesOfRun(em, run.id);
  const given = review.comments.filter((remark) => objectionFree(work, remark));
  const choice = chooseRemarks(given, scope);
  const chosen = await trySuggestions(choice.chosen);
  const notes = chosen.map(({ suggestion, ...remark }, place) => ({
    ...remark,
    id: newId('note'),
    runId: run.id,
    repositoryId: ask.repositoryId,
    number: ask.number,
    place,
    suggestion: suggestion ?? null,
    githubId: null,
  }));
  await journal.note('review', countsText(choice, review.comments.length - given.length));
  await journal.once(step, async () => {
    await journal.write(async (tx) => {
      await tx.query('delete from review_notes where run_id = $1', [run.id]);
      for (const note of notes) await insertNote(tx, note);
    });
    return {};
  });
  return listNotesOfRun(em, run.id);
}

/** Whether a text may be shown on GitHub: it has no credential of the service. */
function objectionFree({ objectionToSending }: Work, value: unknown): boolean {
  return objectionToSending(value) === undefined;
}

function countsText({ chosen, misplaced, repeated, surplus }: Choice, secret: number): string {
  const left = [
    misplaced.length > 0 ? `${misplaced.length} on lines that may not be commented on` : '',
    repeated > 0 ? `${repeated} that repeat others` : '',
    surplus > 0 ? `${surplus} beyond the most important ones` : '',
    secret > 0 ? `${secret} with a credential` : '',
  ].filter((text) => text !== '');
  const kept = `${chosen.length} ${chosen.length === 1 ? 'comment' : 'comments'} chosen`;
  return left.length === 0 ? kept : `${kept}; left out: ${left.join(', ')}`;
}

/** Whether the pull request has another head than the one that was reviewed, or is closed. */
async function isOutdated(app: App, work: Work, ask: PullAsk): Promise<boolean> {
  // A review that was posted is finished as it began.
  if ((await work.journal.recall('review posted')) !== undefined) return false;
  const { octokit, name } = await placeOfPull(app, work, ask.number);
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const at = { ...name, pull_number: ask.number, request: { signal: work.signal } };
  const { data } = await work.retrying(() => octokit.request(path, at));
  if (data.state !== 'open') throw new RunFailed('repository', 'the pull request was closed during the review');
  return data.head.sha !== ask.headSha;
}

async function succeed(
  app: App,
  { run, journal }: Work,
  summary: string,
  also?: (em: EntityManager) => Promise<unknown>,
): Promise<void> {
  await journal.write(async (em) => {
    await insertHandoff(em, { taskId: run.taskId, runId: run.id, summary: summary.slice(0, 4000), nextSteps: [] });
    await also?.(em);
    await concludeRun(app, em, run, 'succeeded');
    await tryMoveTask(app, em, run.taskId, 'finish', { facts: { finishedUnchanged: true } });
  });
  app.metrics.runs.inc({ status: 'succeeded', category: '' });
}
