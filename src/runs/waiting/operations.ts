import type { EntityManager } from 'typeorm';
import { mayContinue } from '../../agents/store.ts';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import type { RunRow } from '../../db/tables/run.ts';
import { Refused } from '../../domain/machine.ts';
import { assertSteerable } from '../../domain/run.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import {
  assertWaits,
  changedSince,
  chosenOption,
  mayHaveSeen,
  type Seen,
  type WaitReason,
} from '../../domain/waiting.ts';
import { badField } from '../../errors.ts';
import { rightProblemIn } from '../../repositories/rights.ts';
import { queueMirror } from '../../tasks/move.ts';
import { getTask, type TaskView } from '../../tasks/store.ts';
import { giveCauseTo, insertRevision, type Revision } from '../../tasks/work-store.ts';
import { addDirector, listOpened } from '../directors.ts';
import { deleteStep, endingStep, findLastEventAt, insertEvent } from '../journal.ts';
import { findLiveRun, findRun, findStarter, lockRun } from '../store.ts';
import { assertIsOther, needsOther } from './approvers.ts';
import { park, showAttention } from './park.ts';
import { approveChange, approvePlan, endWaiting, insertMessage, listUnread, setPause } from './store.ts';

/** What somebody does about the live run of a task. */
export interface RunAct extends Seen {
  taskId: string;
  userId: string;
  /** Called in the same transaction. */
  also?: ((em: EntityManager) => Promise<void>) | undefined;
}

/** More messages that its agent has not read are refused, so that they do not fill its next prompt. */
const maxUnread = 20;
/** Characters of a question that are repeated with its answer, which the next run may read without the question. */
const maxQuestion = 300;

/**
 * Tells the agent of a live run something. The agent reads it before its next turn. A waiting run keeps waiting.
 * @throws Refused when no run is live; AppError 403 when the person may not write to a repository that it has opened
 */
export async function sayToRun(app: App, act: RunAct & { text: string }): Promise<void> {
  await directRun(app, act, async (em, run, login) => {
    if (run === null)
      throw new Refused('The task has no unfinished run whose agent could read this. Use revise or retry.');
    await tell(em, run, act, { text: `[${login} says]\n${act.text}`, note: `${login} said: ${act.text}` });
    app.audit.note({ said: [null, act.text] });
    await queueMirror(app, em, act.taskId);
  });
}

/**
 * Pauses a live run: at once while it is queued, before its next turn while it is running.
 * @throws Refused when no run is live, or it waits for something else
 */
export async function pauseRun(app: App, act: RunAct): Promise<TaskView> {
  return onLiveRun(app, act, async (em, run, login) => {
    if (run?.waitReason === 'paused' && run.status === 'waiting') return app.audit.note({});
    if (run === null || run.status === 'waiting')
      throw new Refused(
        run === null
          ? 'The task has no unfinished run to pause.'
          : 'The run of this task is already waiting, so it cannot be paused.',
      );
    const isNew = run.pauseText === null;
    app.audit.note(isNew ? { paused: [false, true] } : {});
    const text = `Paused by ${login}.`;
    if (run.status === 'queued')
      return park(app, em, run, { id: newId('wait'), reason: 'paused', text, options: [], seconds: null });
    if (isNew) await insertEvent(em, run.id, 'pausing', `${login} paused the run`, {});
    await setPause(em, run.id, text);
  });
}

/**
 * Lets a paused run continue, or withdraws a pause that has not begun.
 * @throws Refused when the run does not wait for this
 */
export async function resumeRun(app: App, act: RunAct): Promise<TaskView> {
  return onLiveRun(app, act, async (em, run, login) => {
    if (run?.status === 'running' && run.pauseText !== null) {
      const pausedAt = await findLastEventAt(em, run.id, 'pausing');
      if (pausedAt !== undefined && !mayHaveSeen(act.writtenAt, pausedAt)) throw new Refused(changedSince);
      await insertEvent(em, run.id, 'resumed', `${login} withdrew the pause`, {});
      app.audit.note({ paused: [true, false] });
      return setPause(em, run.id, null);
    }
    const waiting = await waitingFor(em, run, ['paused'], 'be resumed', act);
    await insertEvent(em, waiting.id, 'resumed', `${login} resumed the run`, {});
    await goOn(app, em, waiting);
  });
}

/**
 * Answers the question of a run. The answer may be the number of an option.
 * @throws Refused when the run does not wait for an answer, or there is no such option
 */
export async function answerRun(app: App, act: RunAct & { text: string }): Promise<TaskView> {
  return directRun(app, act, async (em, run, login) => {
    const waiting = await waitingFor(em, run, ['question'], 'be answered', act);
    const answer = chosenOption(act.text, waiting.waitOptions ?? []);
    const text = `[${login} answers "${oneLine(waiting.waitText ?? '', maxQuestion)}"]\n${answer}`;
    await insertMessage(em, { runId: waiting.id, text, saidBy: act.userId });
    app.audit.note({ answer: [null, answer] });
    await insertEvent(em, waiting.id, 'answered', `${login} answered: ${answer}`, {});
    await goOn(app, em, waiting);
  });
}

/** Reasons to wait for which an approval or a revision is an answer. */
const approvals: readonly WaitReason[] = ['plan', 'push'];

/**
 * Approves the plan or change of a waiting run. The run then carries out the plan or pushes the change. `plan` is what the
 * person made of the plan's text, if they changed it.
 * @throws Refused when the run does not wait for an approval; AppError 400 for a plan when it waits for no plan, 403 when
 * somebody else has to approve it
 */
export async function approveRun(app: App, act: RunAct & { plan?: string | undefined }): Promise<TaskView> {
  return directRun(app, act, async (em, run, login) => {
    const waiting = await waitingFor(em, run, approvals, 'be approved', act);
    const isPlan = waiting.waitReason === 'plan';
    if (await needsOther(em, waiting.id))
      await assertIsOther(em, act.taskId, act.userId, `you cannot approve its ${isPlan ? 'plan' : 'change'}`);
    if (isPlan) await approvePlanOf(app, em, waiting, { ...act, login });
    else {
      if (act.plan !== undefined)
        throw badField('plan', 'plan must be left out, because the run waits for the approval of a change');
      await approveChange(em, waiting.id, act.userId);
      await insertEvent(em, waiting.id, 'approved', `${login} approved the change`, {});
    }
    await goOn(app, em, waiting);
  });
}

/** Approves the plan for which a run waits, and tells its agent, with the new text if the person changed it. */
async function approvePlanOf(
  app: App,
  em: EntityManager,
  run: RunRow,
  { userId, login, plan }: { userId: string; login: string; plan?: string | undefined },
): Promise<void> {
  // A form that was opened and not changed is an approval.
  const changed = plan?.trim() === run.waitText?.trim() ? undefined : plan;
  await approvePlan(em, run.waitId ?? '', userId, changed);
  const [told, event] =
    changed === undefined
      ? [`[${login} approved the plan]\nCarry it out now.`, `${login} approved the plan`]
      : [
          `[${login} changed the plan and approved it]\nThe plan is now as follows. Carry it out as it is here.\n\n${changed}`,
          `${login} changed the plan and approved it:\n${changed}`,
        ];
  await insertMessage(em, { runId: run.id, text: told, saidBy: userId });
  await insertEvent(em, run.id, 'approved', event, {});
  if (changed !== undefined) app.audit.note({ changedPlan: [null, changed] });
}

/** Returns whether a revision of the task would answer what its run waits for. */
export function waitsForRevision({ attention }: Pick<TaskView, 'attention'>): boolean {
  return attention !== null && approvals.includes(attention.reason);
}

/**
 * Asks a run that waits for approval for another plan, or for another change.
 * @throws Refused when the run does not wait for that
 */
export async function reviseWaiting(app: App, act: RunAct & { text: string; revision?: Revision }): Promise<TaskView> {
  return directRun(app, act, async (em, run, login) => {
    const waiting = await waitingFor(em, run, approvals, 'be revised', act);
    await assertKnows(em, waiting.id, act.revision);
    const [what, next] =
      waiting.waitReason === 'plan'
        ? ['another plan', 'Call propose_plan again.']
        : ['another change', 'The change is not approved as it is. Correct it, then call finish again.'];
    // The conversation continues, so its ending no longer counts.
    if (waiting.waitReason === 'push') await deleteStep(em, waiting.id, endingStep);
    const text = `[${login} asks for ${what}]\n${act.text}\n\n${next}`;
    await insertMessage(em, { runId: waiting.id, text, saidBy: act.userId });
    // A request in a review is stored, so that its threads are answered when the run ends.
    if (act.revision?.cause != null && (await insertRevision(em, act.revision)))
      await giveCauseTo(em, waiting.id, act.revision.cause);
    app.audit.note({ request: [null, act.text] });
    await insertEvent(em, waiting.id, 'revised', `${login} asked for ${what}: ${act.text}`, {});
    await goOn(app, em, waiting);
  });
}

/**
 * Checks that a run has opened the repositories whose content a request repeats: only then do all of its directors have the right
 * to know it.
 * @throws Refused
 */
async function assertKnows(em: EntityManager, runId: string, revision: Revision | undefined): Promise<void> {
  const opened = await listOpened(em, runId, null);
  if ((revision?.repositoryIds ?? []).every((id) => opened.includes(id))) return;
  throw new Refused(
    'The run that waits has not opened this repository. Write what should change on the page of the task, or where the run waits.',
  );
}

/**
 * Does something that makes the person a director of the live run. A fix pushes to the branch of a person, so for that they
 * also need write permission in its own repository.
 * @throws AppError 403 or 502 unless they may write to the repositories that the run has opened
 */
async function directRun(app: App, act: RunAct, work: Parameters<typeof onLiveRun>[2]): Promise<TaskView> {
  const { taskId, userId } = act;
  const { repositoryId: ownId } = await getTask(app.db.manager, taskId);
  const live = await findLiveRun(app.db.manager, taskId);
  const checked = live === null ? [] : await listOpened(app.db.manager, live.id, ownId);
  const isFix = live?.kind === 'fix';
  const asked = isFix && ownId !== null ? [...checked, ownId] : checked;
  const problem = await rightProblemIn(app, [userId], asked, 'write');
  if (problem !== undefined) throw problem;
  return onLiveRun(app, act, async (em, run, login) => {
    if (run?.kind === 'fix' && !isFix) throw new Refused('Another run has just begun. Try again.');
    await work(em, run, login);
    if (run !== null) await addDirector(em, { runId: run.id, ownId, userId, checked });
  });
}

/** Does something about the live run of a task, with the run locked. Returns the task. */
async function onLiveRun(
  app: App,
  { taskId, userId, also }: RunAct,
  work: (em: EntityManager, run: RunRow | null, login: string) => Promise<void>,
): Promise<TaskView> {
  return app.db.transaction(async (em) => {
    const live = await findLiveRun(em, taskId);
    // A run that ends locks the run first and then its task. Using the same order here prevents a deadlock.
    if (live !== null) await lockRun(em, live.id);
    const run = live && (await findRun(em, live.id));
    const isLive = run !== null && run.finishedAt === null;
    if (isLive) assertSteerable(run);
    await work(em, isLive ? run : null, (await findStarter(em, userId))?.login ?? 'somebody');
    await also?.(em);
    return getTask(em, taskId);
  });
}

/**
 * Returns the run if it waits for one of the reasons and can continue.
 * @throws Refused
 */
async function waitingFor(
  em: EntityManager,
  run: RunRow | null,
  reasons: readonly WaitReason[],
  action: string,
  seen: Seen,
): Promise<RunRow> {
  assertWaits(attentionOf(run), reasons, action, seen);
  if (run === null) throw new Refused('The task has no unfinished run.');
  if (run.agentId === null || !(await mayContinue(em, run.agentId, run.projectId)))
    throw new Refused(
      'The project can no longer use the agent of this run, because its creator has left. Cancel the run and assign another agent.',
    );
  return run;
}

function attentionOf(run: RunRow | null) {
  if (run?.status !== 'waiting' || run.waitId === null || run.waitReason === null || run.waitingSince === null)
    return null;
  return { id: run.waitId, reason: run.waitReason, since: run.waitingSince };
}

/** Queues a run that waits. */
async function goOn(app: App, em: EntityManager, run: RunRow): Promise<void> {
  await endWaiting(em, run.id);
  app.audit.note({ attention: [run.waitReason, null] });
  await showAttention(app, em, run.taskId);
  await app.queue.send(em, 'run', {});
}

async function tell(
  em: EntityManager,
  run: RunRow,
  { userId }: RunAct,
  { text, note }: { text: string; note: string },
): Promise<void> {
  if ((await listUnread(em, run.id)).length >= maxUnread)
    throw new Refused(`The agent has not read the last ${maxUnread} messages yet. Wait until it has.`);
  await insertMessage(em, { runId: run.id, text, saidBy: userId });
  await insertEvent(em, run.id, 'said', note, {});
}
