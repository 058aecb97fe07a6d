import { isForPerson } from '../../domain/waiting.ts';
import type { Run, Task } from '../api.ts';
import { elapsedOf, formatCost, formatMs, plural } from '../display/formats.ts';
import { actionsFor, type TaskAction } from './actions/task-actions.ts';

/** What a person can do about a task, and why. */
export interface TaskState {
  /** Says in one sentence what the task waits for or what comes next. */
  sentence: string;
  /** The action of the main button; `assign` offers the agents. Null when there is nothing to do. */
  primary: TaskAction | 'assign' | null;
  /** The actions with buttons beside the main one. */
  others: TaskAction[];
  /** The actions in the menu. */
  rare: TaskAction[];
  /** What the buttons do, where their names do not say it. */
  hints: string[];
}

/** What the state of a task depends on besides the task. */
interface Surroundings {
  /** Dependencies that are not done. */
  openDependencies: number;
  subtasks: number;
  openSubtasks: number;
  /** Undefined until it is known. */
  isQueued?: boolean | undefined;
  /** GitHub would refuse a merge now. */
  isMergeBlocked?: boolean;
  /** The person who looks may change nothing. */
  isViewer?: boolean;
}

const rareActions: TaskAction[] = ['to_backlog', 'to_ready', 'to_done'];
const mainActions: TaskAction[] = ['retry', 'start', 'merge'];

/** Returns what the page of a task says about its state, and the actions that it offers. */
export function taskState(task: Task, around: Surroundings): TaskState {
  const isHeld = around.openDependencies > 0;
  // A start would be refused.
  const actions = actionsFor(task).filter((action) => !(action === 'start' && isHeld));
  const main = actions.find((action) => mainActions.includes(action)) ?? null;
  const needsAgent = task.owner === null && ['backlog', 'ready'].includes(task.status);
  return {
    sentence: sentenceOf(task, around),
    primary: needsAgent ? 'assign' : main,
    others: actions.filter((action) => action !== main && !rareActions.includes(action)),
    rare: actions.filter((action) => rareActions.includes(action)),
    hints: hintsFor(task, around.isMergeBlocked ? actions.filter((action) => action !== 'merge') : actions),
  };
}

function sentenceOf(task: Task, around: Surroundings): string {
  const isUnknown = task.status === 'in_progress' && task.attention === null && around.isQueued === undefined;
  if (isUnknown) return 'A run is under way.';
  return around.isViewer ? sentenceForViewer(task, around) : sentenceFor(task, around);
}

function sentenceFor(task: Task, { openDependencies, subtasks, openSubtasks, isQueued }: Surroundings): string {
  switch (task.status) {
    case 'backlog':
    case 'ready':
      if (task.owner === null) return 'No agent is assigned. Assign one, then start the task.';
      if (openDependencies > 0)
        return openDependencies === 1
          ? 'It can start when the task that it depends on is done.'
          : `It can start when the ${openDependencies} tasks that it depends on are done.`;
      if (task.failure !== null) return 'The last run failed. Choose how the agent continues.';
      return task.planFirst === true
        ? 'Start it: the agent proposes a plan, and changes nothing until you approve it.'
        : 'Start it: the agent works on its own branch and opens a pull request for people to merge.';
    case 'in_progress':
      if (isQueued)
        return 'The run begins when a worker is free. You can message the agent, or pause or cancel the run.';
      return progressSentence(task);
    case 'waiting_on_subtasks':
      return `It continues when its subtasks are done: ${subtasks - openSubtasks} of ${subtasks} so far.`;
    case 'in_review':
      return reviewSentence(task);
    case 'done':
      return 'Nothing is left to do. To work on it again, move it to Ready.';
  }
}

/** Says what people who may act can do, without telling the reader to do it. */
function sentenceForViewer(task: Task, around: Surroundings): string {
  const { status, owner, failure, attention } = task;
  switch (status) {
    case 'backlog':
    case 'ready':
      if (owner === null) return 'No agent is assigned.';
      if (around.openDependencies > 0) return sentenceFor(task, around);
      return failure === null ? 'A member can start it.' : 'The last run failed. A member can have it tried again.';
    case 'in_progress':
      if (around.isQueued) return 'The run begins when a worker is free.';
      if (attention === null) return 'The agent is working.';
      return isForPerson(attention.reason) ? 'The run waits for a member.' : progressSentence(task);
    case 'in_review':
      return 'Members review its changes.';
    case 'done':
      return 'Nothing is left to do.';
    default:
      return sentenceFor(task, around);
  }
}

function progressSentence({ attention }: Task): string {
  switch (attention?.reason) {
    case 'plan':
      return 'The agent wrote a plan. It changes nothing until you approve the plan.';
    case 'question':
      return 'The agent waits for an answer to its question.';
    case 'push':
      return 'The agent finished a change. It is pushed when you approve it.';
    case 'paused':
      return 'The run is paused and costs nothing. Resume it when you like.';
    case 'model':
      return 'The model server asked the agent to wait. The run resumes automatically.';
    case 'host':
      return 'The run waits for a host, or for a worker that may do it. It resumes automatically.';
    default:
      return 'The agent is working. You can message it, or pause or cancel the run.';
  }
}

function reviewSentence({ failure, prUrl, runCount }: Task): string {
  if (failure !== null && prUrl === null) return 'The last run failed. Choose how the agent continues.';
  if (failure !== null && runCount === 1)
    return 'The run failed after it had pushed. The pull request contains its work.';
  // The last run may have failed before or after it pushed.
  if (failure !== null) return 'The last run failed. The pull request contains what was pushed so far.';
  if (prUrl === null) return 'The work is ready for review. Request changes, or mark the task as done in the menu.';
  return 'Review the changes, then merge them or request others.';
}

function hintsFor({ failure, status }: Task, actions: TaskAction[]): string[] {
  if (failure === null || status === 'in_progress') return [];
  const hints: Partial<Record<TaskAction, string>> = {
    retry:
      'Retry continues on the branch: the agent gets your hint and the notes of earlier runs, and an approved plan stays approved. If the run reached a limit, its conversation continues too.',
    start: 'Start begins a new run without a hint, and with a new plan where plans are required. The branch is kept.',
    merge: 'Merge accepts the pull request as it is.',
  };
  return actions.flatMap((action) => hints[action] ?? []);
}

/**
 * Returns whether a run still has to begin. Right after a decision, its task no longer waits for a person, but the run that the page knows
 * still has the status `waiting`.
 */
export function isYetToBegin({ attention }: Pick<Task, 'attention'>, { status }: Pick<Run, 'status'>): boolean {
  return status === 'queued' || (status === 'waiting' && attention === null);
}

/**
 * Says how many runs of a task have ended, how long they worked, without what they waited, and what they cost; undefined
 * before the first one. A run that has not ended has a line of its own.
 */
export function effortText(all: Run[]): string | undefined {
  const runs = all.filter(({ finishedAt }) => finishedAt !== null);
  if (runs.length === 0) return undefined;
  const ms = runs.reduce((sum, run) => (run.startedAt === null ? sum : sum + elapsedOf(run, 0)), 0);
  const costs = runs.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  const cost = costs.length === 0 ? null : costs.reduce((sum, each) => sum + each, 0);
  // An undo without conflicts asks no model.
  const isFree = costs.length === 0 && runs.every(({ steps }) => steps === 0);
  const counted = plural(runs.length, runs.length < all.length ? 'earlier run' : 'run');
  return [counted, formatMs(ms), isFree ? 'no model asked' : formatCost(cost)].join(' · ');
}
