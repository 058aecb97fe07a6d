import type { Check, Machine } from './machine.ts';
import type { RunStatus } from './run.ts';

export const taskStatuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done', 'waiting_on_subtasks'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export type TaskEvent =
  | 'start'
  | 'retry'
  | 'propose'
  | 'revise'
  | 'finish'
  | 'fail'
  | 'cancel'
  | 'close'
  | 'reopen'
  | 'split'
  | 'join'
  | 'to_backlog'
  | 'to_ready'
  | 'to_done';

/** What the table of a task needs to know besides its status. Pull requests settled before the task last left `done` or `waiting_on_subtasks` are not counted. */
export interface TaskFacts {
  /** The owner's id, or null; `ownerMayWork` is false once the person who made that agent has left the project. */
  owner: string | null;
  ownerMayWork: boolean;
  openDependencies: readonly string[];
  /** The repository is connected and its host is the GitHub this service works with. */
  repositoryOnGitHub: boolean;
  latestRun: RunStatus | undefined;
  liveRun: boolean;
  openPullRequests: number;
  mergedPullRequests: number;
  /** The run changed nothing and the model called `finish`. */
  finishedUnchanged: boolean;
  isSubtask: boolean;
  /** The task's own agent had split it. */
  splitByAgent: boolean;
  openSubtasks: number;
}

const hasOwner: Check<TaskFacts> = (f) => (f.owner === null ? 'requires an owner (agent), found none' : undefined);
const ownerMayWork: Check<TaskFacts> = (f) =>
  f.ownerMayWork ? undefined : 'requires an owner whose creator is a member of the project, found one who has left';
const dependenciesDone: Check<TaskFacts> = (f) =>
  f.openDependencies.length > 0
    ? `requires every dependency done, found open: ${f.openDependencies.join(', ')}`
    : undefined;
const onGitHub: Check<TaskFacts> = (f) =>
  f.repositoryOnGitHub ? undefined : 'requires a connected repository on GitHub, found none';
const latestRunEnded: Check<TaskFacts> = (f) =>
  f.latestRun === 'failed' || f.latestRun === 'cancelled'
    ? undefined
    : `requires the latest run failed or cancelled, found ${f.latestRun ?? 'no run'}`;
const runIsLive: Check<TaskFacts> = (f) => (f.liveRun ? undefined : 'requires a queued or running run, found none');
const noLiveRun: Check<TaskFacts> = (f) =>
  f.liveRun ? 'requires no queued or running run, found one; cancel it first' : undefined;
const isWorkDone: Check<TaskFacts> = (f) => {
  if (f.openPullRequests > 0) return `requires no open pull request, found ${f.openPullRequests}`;
  return f.mergedPullRequests > 0 || f.finishedUnchanged ? undefined : 'requires a merged pull request, found none';
};
const allClosed: Check<TaskFacts> = (f) =>
  f.openPullRequests > 0 || f.mergedPullRequests > 0 ? 'requires no open and no merged pull request' : undefined;
const noSubtask: Check<TaskFacts> = (f) =>
  f.isSubtask ? 'requires a task that is no subtask itself, found a subtask' : undefined;
const noOpenSubtask: Check<TaskFacts> = (f) =>
  f.openSubtasks > 0 ? `requires every subtask done, found ${f.openSubtasks} open` : undefined;

const reviewOrReady = (f: TaskFacts): TaskStatus => (f.openPullRequests > 0 ? 'in_review' : 'ready');

function joined(f: TaskFacts): TaskStatus {
  if (f.splitByAgent && f.owner !== null) return 'in_progress';
  if (f.openPullRequests > 0) return 'in_review';
  return f.mergedPullRequests > 0 ? 'done' : 'ready';
}

/** The lifecycle of a task; the contract, section 3, completed by decisions, section 5. Printed as docs/lifecycle.md. */
export const taskMachine: Machine<TaskStatus, TaskEvent, TaskFacts> = [
  {
    on: 'start',
    from: ['backlog', 'ready'],
    to: 'in_progress',
    unless: [hasOwner, ownerMayWork, dependenciesDone, onGitHub],
  },
  {
    on: 'retry',
    from: ['backlog', 'ready', 'in_review'],
    to: 'in_progress',
    unless: [latestRunEnded, hasOwner, ownerMayWork, onGitHub],
  },
  { on: 'propose', from: ['in_progress'], to: 'in_review' },
  { on: 'revise', from: ['in_review'], to: 'in_progress', unless: [hasOwner, ownerMayWork, onGitHub] },
  { on: 'finish', from: ['in_progress', 'in_review', 'ready', 'backlog'], to: 'done', unless: [isWorkDone] },
  {
    on: 'fail',
    from: ['in_progress'],
    to: reviewOrReady,
    because: 'in_review when a pull request is open, else ready',
  },
  {
    on: 'cancel',
    from: ['in_progress'],
    to: reviewOrReady,
    because: 'in_review when a pull request is open, else ready',
    unless: [runIsLive],
  },
  { on: 'close', from: ['in_progress', 'in_review'], to: 'ready', unless: [allClosed] },
  { on: 'reopen', from: ['backlog', 'ready'], to: 'in_review' },
  {
    on: 'split',
    from: ['backlog', 'ready', 'in_progress', 'waiting_on_subtasks'],
    to: 'waiting_on_subtasks',
    unless: [noSubtask, (f) => (f.liveRun && !f.splitByAgent ? noLiveRun(f) : undefined)],
  },
  {
    on: 'join',
    from: ['waiting_on_subtasks'],
    to: joined,
    because: 'in_progress when its own agent had split it; else in_review, done or ready by its pull requests',
    unless: [noOpenSubtask],
  },
  { on: 'to_backlog', from: ['ready'], to: 'backlog', unless: [noLiveRun] },
  { on: 'to_ready', from: ['backlog'], to: 'ready', unless: [noLiveRun] },
  {
    on: 'to_ready',
    from: ['done'],
    to: reviewOrReady,
    because: 'in_review when a pull request is open, else ready',
    unless: [noLiveRun],
  },
  { on: 'to_done', from: ['backlog', 'ready', 'in_review'], to: 'done', unless: [noLiveRun] },
];
