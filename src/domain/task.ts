import type { Check, StateMachine } from './machine.ts';
import type { RunStatus } from './run.ts';

/** Returns the address of a task's page on the dashboard. `baseUrl` does not end with a slash. */
export function taskPage(baseUrl: string, taskId: string): string {
  return `${baseUrl}/tasks/${taskId}`;
}

/** Returns the address of the page of one of a task's runs. */
export function runPage(baseUrl: string, taskId: string, runId: string): string {
  return `${taskPage(baseUrl, taskId)}/runs/${runId}`;
}

/** Returns the address of the page that shows the environment of a repository and its last trial. */
export function environmentPage(baseUrl: string, repository: { id: string; projectId: string }): string {
  return `${baseUrl}/projects/${repository.projectId}/repositories/${repository.id}`;
}

export const taskStatuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done', 'waiting_on_subtasks'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** How urgent tasks are, the most urgent first. */
export const priorities = ['urgent', 'high', 'normal', 'low'] as const;
export type Priority = (typeof priorities)[number];

export type TaskEvent =
  | 'start'
  | 'retry'
  | 'propose'
  | 'revise'
  | 'rewind'
  | 'review'
  | 'prove'
  | 'harvest'
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

/**
 * The facts besides its status that decide whether a task may change its status. They exclude pull requests that were
 * merged or closed before the task last left `done` or `waiting_on_subtasks`.
 */
export interface TaskFacts {
  /** The id of the agent that owns the task. */
  owner: string | null;
  /** False once the person who created the owner has left the project. */
  ownerMayWork: boolean;
  openDependencies: readonly string[];
  /** Whether the repository is connected and its host is the GitHub that this service works with. */
  repositoryOnGitHub: boolean;
  /** Null before the first run. */
  latestRun: RunStatus | null;
  /** Whether a run of the task is queued, running or waiting. */
  liveRun: boolean;
  openPullRequests: number;
  mergedPullRequests: number;
  /** Whether the run changed nothing and the model called `finish`. */
  finishedUnchanged: boolean;
  isSubtask: boolean;
  /** Whether the task's own agent created the subtasks. */
  splitByAgent: boolean;
  subtasks: number;
  openSubtasks: number;
}

/** The most subtasks of a task, the same as of an issue on GitHub. The task's page and status comment list all of them. */
export const maxSubtasks = 100;

const hasOwner: Check<TaskFacts> = {
  rule: 'an agent owns the task',
  refusal: (f) => (f.owner === null ? 'The task has no owner. Assign an agent to it first.' : undefined),
};
const ownerMayWork: Check<TaskFacts> = {
  rule: 'the person who created that agent is a member of the project',
  refusal: (f) =>
    f.ownerMayWork
      ? undefined
      : 'The task is assigned to an agent whose creator has left the project. Assign another agent.',
};
const dependenciesDone: Check<TaskFacts> = {
  rule: 'every dependency is done',
  refusal: (f) =>
    f.openDependencies.length > 0
      ? `The task depends on tasks that are not done: ${f.openDependencies.join(', ')}. Finish them or remove the dependencies.`
      : undefined,
};
const onGitHub: Check<TaskFacts> = {
  rule: 'the repository of the task is connected and on GitHub',
  refusal: (f) =>
    f.repositoryOnGitHub
      ? undefined
      : 'The task has no connected repository on GitHub. Connect one, or choose another repository for the task.',
};
const latestRunEnded: Check<TaskFacts> = {
  rule: 'the latest run failed or was cancelled',
  refusal: (f) =>
    f.latestRun === 'failed' || f.latestRun === 'cancelled'
      ? undefined
      : `A task can be retried after its latest run failed or was cancelled; ${latestRunNow(f.latestRun)}.`,
};
const runIsLive: Check<TaskFacts> = {
  rule: 'a run is queued, running or waiting',
  refusal: (f) => (f.liveRun ? undefined : 'The task has no unfinished run.'),
};
const noLiveRun: Check<TaskFacts> = {
  rule: 'no run is queued, running or waiting',
  refusal: (f) => (f.liveRun ? 'The task has an unfinished run. Cancel it first.' : undefined),
};
const isWorkDone: Check<TaskFacts> = {
  rule: 'no pull request is open, and one was merged or the agent found nothing to change',
  refusal: (f) => {
    if (f.openPullRequests > 0)
      return `The task still has open pull requests (${f.openPullRequests}). Merge or close them first.`;
    return f.mergedPullRequests > 0 || f.finishedUnchanged
      ? undefined
      : 'A task is finished by merging a pull request, and none was merged.';
  },
};
const allClosed: Check<TaskFacts> = {
  rule: 'no pull request is open or merged',
  refusal: (f) =>
    f.openPullRequests > 0 || f.mergedPullRequests > 0
      ? 'Another pull request of the task is open or merged.'
      : undefined,
};
const noSubtask: Check<TaskFacts> = {
  rule: 'the task is not itself a subtask',
  refusal: (f) => (f.isSubtask ? 'This task is a subtask, and a subtask cannot have subtasks of its own.' : undefined),
};
const fewSubtasks: Check<TaskFacts> = {
  rule: `the task has fewer than ${maxSubtasks} subtasks`,
  refusal: (f) => (f.subtasks < maxSubtasks ? undefined : tooManySubtasks),
};
const noRunOfOthers: Check<TaskFacts> = {
  rule: 'no run is queued, running or waiting, or that run adds the subtasks',
  refusal: (f) => (f.splitByAgent ? undefined : noLiveRun.refusal(f)),
};
const noOpenSubtask: Check<TaskFacts> = {
  rule: 'every subtask is done',
  refusal: (f) => (f.openSubtasks > 0 ? `Not all subtasks are done; ${f.openSubtasks} still open.` : undefined),
};

export const tooManySubtasks = `A task has at most ${maxSubtasks} subtasks. Add a task that this one depends on instead.`;

function latestRunNow(latestRun: RunStatus | null): string {
  switch (latestRun) {
    case null:
      return 'this one has not run yet';
    case 'succeeded':
      return 'the latest run of this one succeeded';
    default:
      return `the latest run of this one is ${latestRun}`;
  }
}

const reviewOrReady = (f: TaskFacts): TaskStatus => (f.openPullRequests > 0 ? 'in_review' : 'ready');

function joined(f: TaskFacts): TaskStatus {
  if (f.splitByAgent && f.owner !== null) return 'in_progress';
  if (f.openPullRequests > 0) return 'in_review';
  return f.mergedPullRequests > 0 ? 'done' : 'ready';
}

/** The rows of a task's state machine. `npm run docs` writes them to docs/lifecycle.md. */
const rows: StateMachine<TaskStatus, TaskEvent, TaskFacts>['rows'] = [
  {
    on: 'start',
    from: ['backlog', 'ready'],
    to: 'in_progress',
    onlyIf: [hasOwner, ownerMayWork, dependenciesDone, onGitHub],
  },
  {
    on: 'retry',
    from: ['backlog', 'ready', 'in_review'],
    to: 'in_progress',
    onlyIf: [latestRunEnded, hasOwner, ownerMayWork, onGitHub],
  },
  { on: 'propose', from: ['in_progress'], to: 'in_review' },
  { on: 'revise', from: ['in_review'], to: 'in_progress', onlyIf: [hasOwner, ownerMayWork, onGitHub] },
  {
    on: 'rewind',
    from: ['backlog', 'ready', 'in_review'],
    to: 'in_progress',
    onlyIf: [noLiveRun, hasOwner, ownerMayWork, onGitHub],
  },
  { on: 'harvest', from: ['ready', 'done'], to: 'in_progress', onlyIf: [noLiveRun] },
  {
    on: 'review',
    from: ['ready', 'done'],
    to: 'in_progress',
    onlyIf: [noLiveRun, hasOwner, ownerMayWork, onGitHub],
  },
  { on: 'prove', from: ['ready', 'done'], to: 'in_progress', onlyIf: [noLiveRun, onGitHub] },
  { on: 'finish', from: ['in_progress', 'in_review', 'ready', 'backlog'], to: 'done', onlyIf: [isWorkDone] },
  {
    on: 'fail',
    from: ['in_progress'],
    to: reviewOrReady,
    because: 'in_review when a pull request is open, otherwise ready',
  },
  {
    on: 'cancel',
    from: ['in_progress'],
    to: reviewOrReady,
    because: 'in_review when a pull request is open, otherwise ready',
    onlyIf: [runIsLive],
  },
  { on: 'close', from: ['in_progress', 'in_review'], to: 'ready', onlyIf: [allClosed] },
  { on: 'reopen', from: ['backlog', 'ready'], to: 'in_review' },
  {
    on: 'split',
    from: ['backlog', 'ready', 'in_progress', 'waiting_on_subtasks'],
    to: 'waiting_on_subtasks',
    onlyIf: [noSubtask, fewSubtasks, noRunOfOthers],
  },
  {
    on: 'join',
    from: ['waiting_on_subtasks'],
    to: joined,
    because:
      'in_progress when its own agent created the subtasks; otherwise in_review, done or ready by its pull requests',
    onlyIf: [noOpenSubtask],
  },
  { on: 'to_backlog', from: ['ready'], to: 'backlog', onlyIf: [noLiveRun] },
  { on: 'to_ready', from: ['backlog'], to: 'ready', onlyIf: [noLiveRun] },
  {
    on: 'to_ready',
    from: ['done'],
    to: reviewOrReady,
    because: 'in_review when a pull request is open, otherwise ready',
    onlyIf: [noLiveRun],
  },
  { on: 'to_done', from: ['backlog', 'ready', 'in_review'], to: 'done', onlyIf: [noLiveRun] },
];

/** The state machine of a task. */
export const taskMachine: StateMachine<TaskStatus, TaskEvent, TaskFacts> = {
  noun: 'task',
  statuses: {
    backlog: 'is in the backlog',
    ready: 'is ready',
    in_progress: 'is in progress',
    in_review: 'is in review',
    done: 'is done',
    waiting_on_subtasks: 'is waiting for its subtasks',
  },
  events: {
    start: 'be started',
    retry: 'be retried',
    propose: 'be put in review',
    revise: 'be revised',
    rewind: 'be rewound',
    review: 'review its pull request',
    prove: 'prove its pull request',
    harvest: 'look through the history',
    finish: 'be finished',
    fail: 'be marked as failed',
    cancel: 'be cancelled',
    close: 'go back to ready after its pull request was closed',
    reopen: 'go back to review after its pull request was reopened',
    split: 'get subtasks',
    join: 'continue after its subtasks',
    to_backlog: 'be moved to the backlog',
    to_ready: 'be moved to ready',
    to_done: 'be marked as done',
  },
  rows,
};
