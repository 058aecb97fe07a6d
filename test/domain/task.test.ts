import { readFileSync, writeFileSync } from 'node:fs';
import { decide, nextState } from '../../src/domain/machine.ts';
import { type TaskEvent, type TaskFacts, taskMachine, taskStatuses } from '../../src/domain/task.ts';
import { wizardMachine } from '../../src/domain/wizard.ts';

/** Facts with which no rule refuses. */
const fine: TaskFacts = {
  owner: 'agent_1',
  ownerMayWork: true,
  openDependencies: [],
  repositoryOnGitHub: true,
  latestRun: 'failed',
  liveRun: false,
  openPullRequests: 0,
  mergedPullRequests: 0,
  finishedUnchanged: false,
  isSubtask: false,
  splitByAgent: false,
  subtasks: 0,
  openSubtasks: 0,
};

/** The situations that the table distinguishes, by name. */
const situations: Record<string, TaskFacts> = {
  fine,
  'run is live': { ...fine, liveRun: true, latestRun: 'running' },
  'no owner': { ...fine, owner: null },
  'owner has left': { ...fine, ownerMayWork: false },
  'dependency open': { ...fine, openDependencies: ['task_2'] },
  'no repository': { ...fine, repositoryOnGitHub: false },
  'never ran': { ...fine, latestRun: null },
  'pull request open': { ...fine, openPullRequests: 1 },
  'pull request merged': { ...fine, mergedPullRequests: 1 },
  'finished unchanged': { ...fine, finishedUnchanged: true },
  'split by its agent': { ...fine, liveRun: true, splitByAgent: true },
  'subtask open': { ...fine, openSubtasks: 1 },
  'as many subtasks as one may have': { ...fine, subtasks: 100 },
  'is a subtask': { ...fine, isSubtask: true },
};

const golden = new URL('../fixtures/task-grid.txt', import.meta.url);

function grid(): string {
  const events = [...new Set(taskMachine.rows.map((row) => row.on))] as TaskEvent[];
  const lines = [];
  for (const [name, facts] of Object.entries(situations))
    for (const event of events)
      for (const status of taskStatuses) {
        const outcome = decide(taskMachine, status, event, facts);
        const said = {
          moves: () => `-> ${(outcome as { to: string }).to}`,
          refused: () => `refused: ${(outcome as { reason: string }).reason}`,
          'no-row': () => '-',
        };
        lines.push(`${name} | ${status} | ${event} | ${said[outcome.kind]()}`);
      }
  return `${lines.join('\n')}\n`;
}

test('every status × event × situation matches the golden file', () => {
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, grid());
  expect(grid()).toBe(readFileSync(golden, 'utf8'));
});

test('transitions of a task by status, event and facts', () => {
  const to = (status: (typeof taskStatuses)[number], event: TaskEvent, facts: TaskFacts = fine) => {
    const outcome = decide(taskMachine, status, event, facts);
    return outcome.kind === 'moves' ? outcome.to : outcome.kind;
  };
  expect(to('backlog', 'start')).toBe('in_progress');
  expect(to('done', 'start')).toBe('no-row');
  expect(to('in_review', 'retry')).toBe('in_progress');
  expect(to('in_progress', 'fail')).toBe('ready');
  expect(to('in_progress', 'fail', { ...fine, openPullRequests: 1 })).toBe('in_review');
  expect(to('in_progress', 'cancel')).toBe('refused');
  expect(to('in_progress', 'finish', { ...fine, mergedPullRequests: 1, openPullRequests: 1 })).toBe('refused');
  expect(to('in_review', 'close', { ...fine, mergedPullRequests: 1 })).toBe('refused');
  expect(to('waiting_on_subtasks', 'join', { ...fine, splitByAgent: true })).toBe('in_progress');
  expect(to('waiting_on_subtasks', 'join', { ...fine, mergedPullRequests: 1 })).toBe('done');
  expect(to('done', 'to_ready', { ...fine, openPullRequests: 1 })).toBe('in_review');
});

test('a refusal says which statuses allow the event and which one the task has', () => {
  const refusal =
    (status: (typeof taskStatuses)[number], event: TaskEvent, facts: TaskFacts = fine) =>
    () =>
      nextState(taskMachine, status, event, facts);
  expect(refusal('done', 'start')).toThrow(
    'Only a task that is in the backlog or ready can be started; this one is done.',
  );
  expect(refusal('waiting_on_subtasks', 'retry')).toThrow(
    'Only a task that is in the backlog, ready or in review can be retried; this one is waiting for its subtasks.',
  );
  expect(refusal('backlog', 'retry', { ...fine, latestRun: 'running' })).toThrow(
    /the latest run of this one is running/,
  );
  expect(() => nextState(wizardMachine, 'finalized', 'answer', { isLast: false })).toThrow(
    'Only a planning session that still has open questions, has all answers, its requirements, its plan or its tasks can take an answer; this one is finalized.',
  );
  expect(() => nextState(wizardMachine, 'collecting', 'generate_plan', { isLast: false })).toThrow(
    'Only a planning session that has its requirements, its plan or its tasks can get its plan generated; this one still has open questions.',
  );
});
