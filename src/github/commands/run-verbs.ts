import type { App } from '../../app.ts';
import { plain } from '../../domain/text/sanitize.ts';
import { reviseTask } from '../../runs/operations.ts';
import {
  type Act,
  answerRun,
  approveRun,
  pauseRun,
  resumeRun,
  reviseWaiting,
  sayToRun,
  waitsForRevision,
} from '../../runs/waiting/operations.ts';
import { getTask } from '../../tasks/store.ts';
import { type GivenCommand, requiredArgument, requiredTask, taskOfCommand } from './given-command.ts';
import { answerPlan, approvePlan, hasPlan } from './plan-verbs.ts';

/** Answers the question of the task's run, or else the open question of the issue's plan. */
export async function answer(app: App, given: GivenCommand): Promise<unknown> {
  const text = plain(requiredArgument(given, 'the number of an option, or your own words,'));
  return (await isForRun(app, given)) ? answerRun(app, { ...(await actOf(app, given)), text }) : answerPlan(app, given);
}

/** Approves what the task's run waits with, or else the issue's plan. */
export async function approve(app: App, given: GivenCommand): Promise<unknown> {
  return (await isForRun(app, given)) ? approveRun(app, await actOf(app, given)) : approvePlan(app, given);
}

/** Asks for another plan while the task's run waits for approval of its plan, otherwise for changes to its work. */
export async function revise(app: App, given: GivenCommand): Promise<unknown> {
  const taskId = await requiredTask(app, given);
  const text = requiredArgument(given, 'what should change');
  if (waitsForRevision(await getTask(app.db.manager, taskId)))
    return reviseWaiting(app, { ...(await actOf(app, given)), text: plain(text) });
  const about = { taskId, source: 'person', text, cause: null, askedBy: given.userId } as const;
  return reviseTask(app, about, given.remember);
}

/**
 * Returns whether a command that both runs and plans know is about the task's run: the run waits for people, or there is
 * no plan.
 */
async function isForRun(app: App, given: GivenCommand): Promise<boolean> {
  const taskId = await taskOfCommand(app, given);
  const attention = taskId === undefined ? null : (await getTask(app.db.manager, taskId)).attention;
  if (attention !== null && attention.reason !== 'model') return true;
  return taskId !== undefined && (given.source.issue.isPull || !(await hasPlan(app, given)));
}

/** Commands about the unfinished run of a task. */
export const runVerbs = {
  say: {
    takes: '<text>',
    does: 'tells the working agent something',
    audit: 'task.say',
    act: async (app: App, given: GivenCommand) =>
      sayToRun(app, {
        ...(await actOf(app, given)),
        text: plain(requiredArgument(given, 'what the agent should know')),
      }),
  },
  pause: {
    takes: '',
    does: 'pauses the run',
    audit: 'task.pause',
    act: async (app: App, given: GivenCommand) => pauseRun(app, await actOf(app, given)),
  },
  resume: {
    takes: '',
    does: 'lets a paused run continue',
    audit: 'task.resume',
    act: async (app: App, given: GivenCommand) => resumeRun(app, await actOf(app, given)),
  },
} as const;

async function actOf(app: App, given: GivenCommand): Promise<Act> {
  const { userId, writtenAt, remember } = given;
  return { taskId: await requiredTask(app, given), userId, writtenAt, also: remember };
}
