import type { EnvironmentTrial, Project, Task } from '../../../src/web/api.ts';
import { costOf, formatCost, formatDuration, plural } from '../../../src/web/display/formats.ts';
import { hasHidden, revealHidden, terminalText } from '../../../src/web/display/hidden-characters.ts';
import { failureName, runKindName } from '../../../src/web/display/names.ts';
import { verdictOf } from '../../../src/web/environment/trial-texts.ts';
import {
  changedProjectBudgets,
  changedTaskBudget,
  highestBudget,
  projectBudgetProblem,
  projectBudgetTexts,
  taskBudgetProblem,
  taskBudgetTexts,
} from '../../../src/web/forms/budgets.ts';
import { changedFields } from '../../../src/web/forms/submit.ts';
import { gain, verdict } from '../../../src/web/sprints/forecast-text.ts';
import { actionForDrop, actionsFor } from '../../../src/web/tasks/actions/task-actions.ts';
import { titlesFromList } from '../../../src/web/tasks/editing/new-task-texts.ts';

// The rules of the dashboard that can be tested without a page.

const failure = { category: 'checks', message: 'the checks fail', retryable: true } as const;

function task(changes: Partial<Task> = {}): Task {
  return {
    id: 'task_1',
    title: 'Greet by name',
    description: '',
    status: 'ready',
    priority: 'normal',
    owner: 'agent_1',
    projectId: 'proj_1',
    branchName: null,
    base: null,
    prUrl: null,
    dependsOn: [],
    repositoryId: null,
    parentId: null,
    sprintId: null,
    issueNumber: null,
    issueUrl: null,
    issueType: null,
    issueAssignees: [],
    failure: null,
    attention: null,
    merging: null,
    responsible: null,
    planFirst: null,
    budget: null,
    undoOf: null,
    runCount: 0,
    createdAt: '2026-01-05T10:00:00.000Z',
    updatedAt: '2026-01-05T10:00:00.000Z',
    ...changes,
  };
}

test.each<[string, Partial<Task>, string[]]>([
  ['ready', {}, ['start', 'to_backlog', 'to_done']],
  ['ready without an agent', { owner: null }, ['to_backlog', 'to_done']],
  ['ready after a failure', { failure }, ['retry', 'start', 'to_backlog', 'to_done']],
  ['in progress', { status: 'in_progress' }, ['cancel']],
  ['in review', { status: 'in_review', prUrl: 'https://github.com/o/r/pull/1' }, ['merge', 'revise', 'to_done']],
  ['in review without a pull request', { status: 'in_review' }, ['revise', 'to_done']],
  ['waiting without a run', { status: 'waiting_on_subtasks' }, []],
  ['waiting with a run', { status: 'waiting_on_subtasks', runCount: 1 }, ['cancel']],
])('the actions for a task that is %s', (_name, changes, expected) => {
  expect(actionsFor(task(changes))).toEqual(expected);
});

test.each<[Partial<Task>, Task['status'], object]>([
  [{}, 'in_progress', { action: 'start' }],
  [{ failure }, 'in_progress', { action: 'retry' }],
  [{ status: 'in_progress' }, 'ready', { action: 'cancel' }],
  [{ status: 'in_review', prUrl: 'https://github.com/o/r/pull/1' }, 'done', { action: 'merge' }],
  [{ status: 'in_review' }, 'done', { action: 'to_done' }],
  [{}, 'in_review', { refusal: 'A task moves to In review when its agent opens a pull request.' }],
  [{ owner: null }, 'in_progress', { refusal: 'Assign an agent to the task before you start it.' }],
  [{ status: 'in_progress' }, 'done', { refusal: 'Cancel the run before you move the task.' }],
  [{ status: 'done' }, 'in_progress', { refusal: 'A task cannot move from Done to In progress.' }],
])('dropping %j on %s', (changes, column, expected) => {
  expect(actionForDrop(task(changes), column)).toEqual(expected);
});

test('bullets, numbers and checkboxes are removed from a pasted list of titles', () => {
  const list = '- one\n  * two\n3. three\n4) [x] four\n- [ ] five\n\n• six\nseven-eight\n';
  expect(titlesFromList(list)).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven-eight']);
});

test('hidden characters are shown as their code points, tabs as they are', () => {
  expect(revealHidden('a\tb\u202Ec\u0000')).toBe('a\tb⟦U+202E⟧c⟦U+0000⟧');
  expect([hasHidden('a\tb'), hasHidden('a\u200Bb')]).toEqual([false, true]);
});

test('only the fields that differ are sent', () => {
  expect(changedFields({ name: 'a', goal: '' }, { name: 'a', goal: 'b' })).toEqual({ goal: 'b' });
});

test('a budget is sent only when it was changed, and checked against the lower limit of project and service', () => {
  const texts = taskBudgetTexts(task({ budget: { steps: 20 } }));
  expect(changedTaskBudget(texts, { ...texts })).toBeUndefined();
  expect(changedTaskBudget(texts, { ...texts, costUsd: '2.5' })).toEqual({ costUsd: 2.5, steps: 20 });
  expect(changedTaskBudget(texts, { ...texts, steps: ' ' })).toBeNull();
  const limits = { runCostUsd: 5, runSteps: 200, runMinutes: 30, runTokens: 1000, dayCostUsd: 50 };
  const budgets = { runCostUsd: null, runSteps: 50, runMinutes: 90, runTokens: null, dayCostUsd: null };
  const project = { budgets, limits } as Project;
  expect((['costUsd', 'steps', 'minutes'] as const).map((key) => highestBudget(project, key))).toEqual([5, 50, 30]);
  expect(['', '50', '51', '0', '1.5', 'x'].map((text) => taskBudgetProblem('steps', text, 50))).toEqual([
    undefined,
    undefined,
    'Enter at most 50.',
    ...Array(3).fill('Enter a whole number above 0, or leave the field empty.'),
  ]);
});

test('of the budgets of a project, only changed ones are sent, and each is checked against the limit of the service', () => {
  const budgets = { runCostUsd: null, runSteps: 50, runMinutes: 90, runTokens: null, dayCostUsd: null };
  const texts = projectBudgetTexts({ budgets });
  expect(changedProjectBudgets(projectBudgetTexts({ budgets }), texts)).toEqual({});
  expect(changedProjectBudgets(projectBudgetTexts({ budgets }), { ...texts, runSteps: '', dayCostUsd: '2.5' })).toEqual(
    {
      runSteps: null,
      dayCostUsd: 2.5,
    },
  );
  expect(['', '50', '0', '51'].map((text) => projectBudgetProblem(text, 50))).toEqual([
    undefined,
    undefined,
    'Enter a number above 0, or leave the field empty.',
    'This service allows at most 50. Ask its operator to raise the limit, or enter less.',
  ]);
});

test('numbers, costs, durations and names are formatted for people', () => {
  expect([plural(0, 'file'), plural(1, 'file'), plural(2, 'file')]).toEqual(['0 files', '1 file', '2 files']);
  expect([null, 0, 0.004, 1.5].map(formatCost)).toEqual(['cost unknown', '$0.00', 'under $0.01', '$1.50']);
  const unpriced = (steps: number) => costOf({ steps, costUsd: null });
  expect([0, 1].map(unpriced)).toEqual(['no cost yet', 'cost unknown']);
  const since = (seconds: number) => formatDuration('2026-01-05T10:00:00Z', new Date(seconds * 1000).toISOString());
  const start = Date.parse('2026-01-05T10:00:00Z') / 1000;
  expect([-5, 59, 60, 125, 3840].map((seconds) => since(start + seconds))).toEqual([
    '0 s',
    '59 s',
    '1 min 0 s',
    '2 min 5 s',
    '1 h 4 min',
  ]);
  expect([failureName(failure), failureName({ category: 'gave_up' })]).toEqual(['checks', 'gave up']);
  expect([runKindName({ kind: 'start' }), runKindName({ kind: 'retry' })]).toEqual(['Run', 'Retry']);
});

const tried = (command: string, exitCode: number | null = 0) => ({ command, exitCode, seconds: 1, output: '' });

test('output is shown as a terminal leaves it', () => {
  expect(terminalText('\u001b[32mgreen\u001b[0m\r\n10 %\r100 %\na\u202Eb\u001b]0;x\u0007\tc')).toBe(
    'green\n100 %\na⟦U+202E⟧b⟦U+001B⟧]0;x⟦U+0007⟧\tc',
  );
});

test.each([
  [{ status: 'running', beganAt: null }, 'The trial waits for a worker.'],
  [{ status: 'running' }, 'The trial has started. Its first command has not started yet.'],
  [{ status: 'running', commands: [tried('npm ci', null)] }, 'The trial is running.'],
  [{ commands: [tried('npm ci'), tried('npm test')], setupCommands: 1 }, 'Set-up and checks succeeded.'],
  [
    { commands: [tried('npm ci')], setupCommands: 1 },
    'Set-up succeeded. The repository has no checks in .deckhand.yml.',
  ],
  [{ commands: [tried('npm test')] }, 'The checks succeeded.'],
  [{ commands: [tried('npm test')], problem: 'go is missing.' }, 'The checks succeeded. go is missing.'],
  [
    { tried: [tried('npm test'), tried('make test', 2)] },
    'There is nothing to set up. The repository has no checks in .deckhand.yml. “npm test” passes, so the draft below lists it.',
  ],
  [{}, expect.stringMatching(/^There is nothing to set up or check/)],
  [{ status: 'failed', problem: 'no branch main' }, 'The trial failed: no branch main'],
  [{ status: 'failed', commands: [tried('a', 2)] }, '“a” ended with exit code 2.'],
  [
    { status: 'failed', commands: [tried('a', null), tried('b'), tried('c', 1)] },
    '“a” was stopped. 2 commands failed in all.',
  ],
] as [Partial<EnvironmentTrial>, unknown][])('the verdict on the trial %j', (changes, expected) => {
  const lists = { tried: [], missing: [], unknown: [], unchecked: [], services: [], refusedHosts: [], checkout: [] };
  const none = { ...lists, draft: null };
  const trial = { status: 'ready' as const, commands: [], setupCommands: 0, problem: null, ...none };
  const at = '2026-01-05T10:00:00.000Z';
  expect(
    verdictOf({ id: 'trial_1', startedAt: at, beganAt: at, finishedAt: at, image: null, ...trial, ...changes }),
  ).toEqual(expected);
});

test('a forecast is put into words', () => {
  const forecast = (p50: string, p80: string, p95: string) => ({
    p50: `2026-03-${p50}:00Z`,
    p80: `2026-03-${p80}:00Z`,
    p95: `2026-03-${p95}:00Z`,
  });
  const early = forecast('02T12:00', '03T12:00', '05T23:59');
  const said = ['2026-03-05', '2026-03-03', '2026-03-02', '2026-03-01'].map((day) =>
    verdict(early, `${day}T00:00:00.000Z`),
  );
  expect(said.map((text) => /very likely|probably be|may be|probably not/.exec(text)?.[0])).toEqual([
    'very likely',
    'probably be',
    'may be',
    'probably not',
  ]);
  const byNow = (p80: string) =>
    gain(forecast('01T00:00', '10T00:00', '20T00:00'), forecast('01T00:00', p80, '11T00:00'));
  expect(['07T02:00', '09T00:00', '09T20:00', '09T23:00', '09T23:50', '11T00:00'].map(byNow)).toEqual([
    'about 3 days earlier',
    'about 1 day earlier',
    'about 4 hours earlier',
    'about 1 hour earlier',
    'at about the same time',
    'at about the same time',
  ]);
});
