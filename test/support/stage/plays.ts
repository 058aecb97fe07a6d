import {
  failedTask,
  issue,
  mergedTask,
  plannedIssue,
  reviewedTask,
  say,
  sprint,
  startedTask,
  talkedTask,
  taskOnIssue,
  waitingTask,
} from './props.ts';
import type { Stage } from './stage.ts';

/** Prepares what something needs that happens to the service, and returns a function that makes it happen. */
export type Play = (stage: Stage) => Promise<() => Promise<unknown>>;

type Given = Promise<{ number: number }>;

/** A comment with this command on the issue. */
const commanded =
  (prepare: (stage: Stage) => Given, command: string): Play =>
  async (stage) => {
    const { number } = await prepare(stage);
    return () => say(stage, number, `/agent ${command}`);
  };

/** The pull request of a task, on which the command is given. */
const reviewedPull = async (stage: Stage): Given => ({ number: (await reviewedTask(stage)).pull });
const bare = async (stage: Stage): Given => ({ number: await issue(stage) });
const waiting = (reason: 'plan' | 'question' | 'paused') => (stage: Stage) => waitingTask(stage, reason);

/** For each comment command, by its verb. */
export const commandPlays: Record<string, Play> = {
  help: commanded(bare, 'help'),
  status: commanded(taskOnIssue, 'status'),
  create: commanded(bare, 'create'),
  update: async (stage) => {
    const { number } = await taskOnIssue(stage);
    await stage.github.as('mona')('PATCH', `/repos/mona/sample/issues/${number}`, { body: 'changed' });
    await stage.settle();
    return () => say(stage, number, '/agent update');
  },
  assign: commanded(taskOnIssue, 'assign reviewer'),
  start: commanded(bare, 'start'),
  retry: commanded(failedTask, 'retry once more'),
  cancel: commanded(startedTask, 'cancel'),
  revise: commanded(reviewedTask, 'revise rename it'),
  say: commanded(startedTask, 'say hurry'),
  pause: commanded(startedTask, 'pause'),
  resume: commanded(waiting('paused'), 'resume'),
  rewind: commanded(talkedTask, 'rewind 1 otherwise'),
  subtask: commanded(taskOnIssue, 'subtask The first half'),
  base: commanded(taskOnIssue, 'base main'),
  depends: async (stage) => {
    const other = await taskOnIssue(stage);
    const { number } = await taskOnIssue(stage);
    return () => say(stage, number, `/agent depends #${other.number}`);
  },
  sprint: async (stage) => {
    const { name } = await sprint(stage);
    const { number } = await taskOnIssue(stage);
    return () => say(stage, number, `/agent sprint ${name}`);
  },
  budget: commanded(taskOnIssue, 'budget $3'),
  plan: commanded(bare, 'plan'),
  answer: commanded(waiting('question'), 'answer yes'),
  approve: commanded(waiting('plan'), 'approve'),
  ask: commanded(taskOnIssue, 'ask Why?'),
  setup: commanded(bare, 'setup'),
  merge: commanded(reviewedTask, 'merge'),
  undo: commanded(mergedTask, 'undo'),
  quote: commanded(taskOnIssue, 'quote'),
  review: commanded(reviewedPull, 'review'),
  prove: commanded(reviewedPull, 'prove'),
  fix: commanded(bare, 'fix the typo'),
};

/** For the commands that act on a plan. */
export const planPlays: Record<string, Play> = {
  answer: commanded(plannedIssue, 'answer 1'),
  approve: commanded((stage) => plannedIssue(stage, 3), 'approve'),
  cancel: commanded(plannedIssue, 'cancel'),
  start: async (stage) => {
    const { number } = await plannedIssue(stage, 3);
    await say(stage, number, '/agent approve');
    await stage.settle();
    return () => say(stage, number, '/agent start');
  },
};
