import type { App } from '../../app.ts';
import { plain } from '../../domain/text/sanitize.ts';
import { type Act, pauseRun, resumeRun, sayToRun } from '../../runs/waiting/operations.ts';
import { type GivenCommand, requiredArgument, requiredTask } from './given-command.ts';

/** Commands about the unfinished run of a task. */
export const runVerbs = {
  say: {
    takes: '<text>',
    does: 'tells the working agent something',
    act: async (app: App, given: GivenCommand) =>
      sayToRun(app, {
        ...(await actOf(app, given)),
        text: plain(requiredArgument(given, 'what the agent should know')),
      }),
  },
  pause: {
    takes: '',
    does: 'pauses the run',
    act: async (app: App, given: GivenCommand) => pauseRun(app, await actOf(app, given)),
  },
  resume: {
    takes: '',
    does: 'lets a paused run continue',
    act: async (app: App, given: GivenCommand) => resumeRun(app, await actOf(app, given)),
  },
};

async function actOf(app: App, given: GivenCommand): Promise<Act> {
  const { userId, writtenAt, remember } = given;
  return { taskId: await requiredTask(app, given), userId, writtenAt, also: remember };
}
