import type { Collisions, MergeReadiness, Run, Task, TimelineEntry } from '../../../src/web/api.ts';
import {
  checkCounts,
  collisionSteps,
  mergeSteps,
  mergeTitle,
  reviewText,
} from '../../../src/web/tasks/merging/readiness.ts';
import { effortText, isYetToBegin, taskState } from '../../../src/web/tasks/task-state.ts';
import { askedFor, isMarkdown, isQuoted, timelineText } from '../../../src/web/tasks/timeline/timeline-texts.ts';

const failure = { category: 'checks', message: 'the checks fail', retryable: true } as const;
const prUrl = 'https://github.com/o/r/pull/1';
const attention: Task['attention'] = {
  id: 'wait_1',
  reason: 'plan',
  text: '',
  options: [],
  since: '2026-01-05T10:00:00.000Z',
};
const around = { openDependencies: 0, subtasks: 0, openSubtasks: 0 };

const task = (changes: Partial<Task>) =>
  ({ status: 'ready', owner: 'agent_1', failure: null, attention: null, prUrl: null, runCount: 0, ...changes }) as Task;

test.each<[Partial<Task>, string | null, string[], string[]]>([
  [{}, 'start', [], ['to_backlog', 'to_done']],
  [{ owner: null }, 'assign', [], ['to_backlog', 'to_done']],
  [{ failure }, 'retry', ['start'], ['to_backlog', 'to_done']],
  [{ status: 'in_progress' }, null, ['cancel'], []],
  [{ status: 'in_progress', attention }, null, ['cancel'], []],
  [{ status: 'in_review', prUrl }, 'merge', ['revise'], ['to_done']],
  [{ status: 'in_review', prUrl, failure }, 'retry', ['merge', 'revise'], ['to_done']],
  [{ status: 'in_review' }, null, ['revise'], ['to_done']],
  [{ status: 'waiting_on_subtasks' }, null, [], []],
  [{ status: 'done', prUrl }, null, [], ['to_ready']],
])('a task that is %j has the main button %s', (changes, primary, others, rare) => {
  const state = taskState(task(changes), around);
  expect(state).toMatchObject({ primary, others, rare });
  expect(state.sentence).toMatch(/^[A-Z].*\.$/);
});

test('a failed task says what Retry and Start do; another one does not', () => {
  expect(taskState(task({ failure }), around).hints.map((hint) => hint.split(' ')[0])).toEqual(['Retry', 'Start']);
  expect(taskState(task({}), around).hints).toEqual([]);
  // What cannot be merged is not offered as it is.
  const failed = task({ status: 'in_review', prUrl, failure });
  const hints = (isMergeBlocked: boolean) => taskState(failed, { ...around, isMergeBlocked }).hints.join(' ');
  expect([hints(false), hints(true)].map((text) => text.includes('Merge accepts'))).toEqual([true, false]);
  const queued = taskState(task({ status: 'in_progress' }), { ...around, isQueued: true });
  expect(queued.sentence).toMatch(/^The run begins when a worker is free/);
  // Before its runs are read, it is not said whether one works.
  expect(taskState(task({ status: 'in_progress' }), around).sentence).toBe('A run is under way.');
});

test('right after a decision, a run that still says that it waits is about to begin', () => {
  const attention = { id: 'wait_1', reason: 'plan' as const, text: '', options: [], since: '' };
  expect(isYetToBegin(task({ attention: null }), { status: 'waiting' })).toBe(true);
  expect(isYetToBegin(task({ attention }), { status: 'waiting' })).toBe(false);
  expect(isYetToBegin(task({ attention: null }), { status: 'running' })).toBe(false);
});

test('a task says before its start whether a plan comes first', () => {
  expect(taskState(task({ planFirst: true }), around).sentence).toMatch(/proposes a plan, and changes nothing until/);
  expect(taskState(task({ planFirst: null }), around).sentence).not.toContain('plan');
});

test('a failed task in review says which work its pull request contains', () => {
  const sentenceOf = (changes: Partial<Task>) =>
    taskState(task({ status: 'in_review', failure, ...changes }), around).sentence;
  expect(sentenceOf({ prUrl, runCount: 1 })).toBe(
    'The run failed after it had pushed. The pull request contains its work.',
  );
  expect(sentenceOf({ prUrl, runCount: 2 })).toBe(
    'The last run failed. The pull request contains what was pushed so far.',
  );
  expect(sentenceOf({ runCount: 1 })).not.toContain('pull request');
});

test('a viewer is not told to do what only members can do', () => {
  const states: [Partial<Task>, string][] = [
    [{ owner: null }, 'No agent is assigned.'],
    [{}, 'A member can start it.'],
    [{ failure }, 'The last run failed. A member can have it tried again.'],
    [{ status: 'in_progress' }, 'The agent is working.'],
    [{ status: 'in_progress', attention }, 'The run waits for a member.'],
    [{ status: 'in_review', prUrl }, 'Members review its changes.'],
    [{ status: 'done' }, 'Nothing is left to do.'],
  ];
  for (const [changes, sentence] of states)
    expect(taskState(task(changes), { ...around, isViewer: true, isQueued: false }).sentence).toBe(sentence);
});

test('a task that waits for others says so and cannot be started', () => {
  const held = taskState(task({}), { ...around, openDependencies: 2 });
  expect(held.primary).toBeNull();
  expect(held.sentence).toBe('It can start when the 2 tasks that it depends on are done.');
  const parent = taskState(task({ status: 'waiting_on_subtasks' }), { ...around, subtasks: 3, openSubtasks: 2 });
  expect(parent.sentence).toBe('It continues when its subtasks are done: 1 of 3 so far.');
});

test('the effort of a task is that of its ended runs, without their waits', () => {
  const run = (from: string | null, to: string | null, costUsd: number | null, waitedSeconds = 0, steps = 3) =>
    ({
      steps,
      startedAt: from && `2026-01-05T10:${from}Z`,
      finishedAt: to && `2026-01-05T10:${to}Z`,
      waitedSeconds,
      costUsd,
    }) as Run;
  expect(effortText([])).toBeUndefined();
  expect(effortText([run('00:00', null, 1)])).toBeUndefined();
  expect(effortText([run('00:00', '01:10', 0.5), run('02:00', '05:00', null), run(null, '06:00', 0.25)])).toBe(
    '3 runs · 4 min 10 s · $0.75',
  );
  expect(effortText([run('00:00', '00:05', 1), run('01:00', null, null)])).toBe('1 earlier run · 5 s · $1.00');
  expect(effortText([run('00:00', '00:03', null)])).toBe('1 run · 3 s · cost unknown');
  // Nor did an undo that asked no model cost something unknown.
  expect(effortText([run('00:00', '00:05', null, 0, 0)])).toBe('1 run · 5 s · no model asked');
  // The time that it waited for people is not its own.
  expect(effortText([run('00:00', '30:00', 1, 1790)])).toBe('1 run · 10 s · $1.00');
});

const pull = { repositoryName: 'sample', prNumber: 5, baseBranch: 'main', method: 'squash' };
const readiness = (changes: object) =>
  ({ pullRequests: [pull], runChecks: [], dependents: [], problems: [], ...changes }) as unknown as MergeReadiness;

test('the dialog says which pull requests are merged how, and which tasks start then', () => {
  expect(mergeTitle(readiness({}))).toBe('Merge sample #5?');
  expect(mergeSteps(readiness({}))).toEqual(['Squash and merge sample #5 into main.', 'The task moves to Done.']);
  const two = readiness({
    pullRequests: [pull, { ...pull, repositoryName: 'docs', baseBranch: null, method: null }],
    dependents: [
      { title: 'Next', starts: true },
      { title: 'Later', starts: false },
    ],
  });
  expect(mergeTitle(two)).toBe('Merge 2 pull requests?');
  expect(mergeSteps(two)).toEqual([
    'Squash and merge sample #5 into main.',
    'Merge docs #5.',
    'The task moves to Done.',
    '“Next” starts, because it depends on this task.',
    '1 other task no longer waits for it.',
  ]);
});

const collision = (otherNumber: number, otherTaskId: string | null, otherAuthor: string | null = null) => ({
  ...{ repositoryId: 'repo_1', repositoryName: 'sample', prNumber: 5, files: [], at: '' },
  ...{ otherNumber, otherTaskId, otherAuthor, otherUrl: `u/${otherNumber}`, otherTitle: `Other ${otherNumber}` },
});

test('the dialog says which other changes will conflict, and that their agents are asked', () => {
  const steps = (...collisions: Collisions['collisions']) => collisionSteps({ collisions });
  expect(steps()).toEqual([]);
  expect(steps(collision(6, 'task_6'), collision(6, 'task_6'), collision(7, null, 'bob'))).toEqual([
    '“Other 6” (sample #6) will probably conflict with its base branch then. Deckhand asks its agent to resolve that, if the task is in review.',
    'sample #7 by bob will probably conflict with its base branch then.',
  ]);
  const [many] = steps(...[1, 2, 3, 4, 5, 6, 7].map((n) => collision(n, `task_${n}`)));
  expect(many).toMatch(
    /“Other 5” \(sample #5\), and 2 others will .* asks their agents .* if the tasks are in review\.$/,
  );
});

test('checks are counted and reviews summed up', () => {
  const checks = (['passed', 'failed', 'passed', 'running'] as const).map((outcome) => ({ outcome }));
  expect(checkCounts(checks)).toBe('1 failed, 1 running, 2 passed');
  expect(reviewText([])).toBe('No approvals on GitHub');
  expect(
    reviewText([
      { login: 'ada', state: 'approved' },
      { login: 'bob', state: 'changes_requested' },
    ]),
  ).toBe('bob requested changes · ada approved');
});

const entry = (changes: Partial<TimelineEntry>) =>
  ({ actor: null, agent: null, text: '', changes: {}, ...changes }) as TimelineEntry;
const mona = { id: 'user_1', login: 'mona' };

test.each<[Partial<TimelineEntry>, string]>([
  [{ type: 'created', actor: mona }, 'mona created the task'],
  [{ type: 'created' }, 'The task was created'],
  [{ type: 'approve', actor: mona, changes: { attention: ['plan', null] } }, 'mona approved the plan'],
  [
    { type: 'approve', actor: mona, changes: { attention: ['plan', null], changedPlan: [null, 'Mine'] } },
    'mona changed the plan and approved it',
  ],
  [{ type: 'approve', actor: mona, changes: { attention: ['push', null] } }, 'mona approved the change'],
  [{ type: 'rewind', actor: mona, changes: { rewoundTo: [null, 'turn 3 of run_x'] } }, 'mona went back to turn 3'],
  [{ type: 'update', actor: mona, changes: { status: ['ready', 'done'] } }, 'mona moved the task to Done'],
  [
    { type: 'update', actor: mona, changes: { title: ['a', 'b'], dependsOn: [0, 1] } },
    'mona changed the title and dependencies',
  ],
  [
    { type: 'update', actor: mona, changes: { budget: [null, '{"costUsd":1.5}'] } },
    'mona changed the budget to $1.50 a run',
  ],
  [{ type: 'undo', actor: mona }, 'mona asked to undo the task'],
  [{ type: 'run_failed', agent: 'Developer' }, 'Developer could not finish a run'],
  [{ type: 'pushed', agent: 'Developer', text: 'abc1234' }, 'Developer pushed abc1234'],
  [{ type: 'pushed', text: 'abc1234' }, 'Pushed abc1234'],
  [{ type: 'run_succeeded' }, 'The run finished'],
  [{ type: 'pull_merged', text: 'sample #5' }, 'Pull request merged:'],
  [{ type: 'finish' }, 'The task is done'],
  [{ type: 'wait_plan' }, 'A plan was proposed'],
  [{ type: 'revise', text: 'The branch conflicts.' }, 'Deckhand requested changes'],
  [{ type: 'revise' }, 'A run for the requested changes was queued'],
  [{ type: 'something_new', actor: mona }, 'mona did “something new”'],
])('the timeline shows %j', (changes, expected) => {
  const { who, what } = timelineText(entry(changes));
  expect([who, what].filter((part) => part !== null).join(' ')).toBe(expected);
});

test('a revision and a rewind say who asked for what', () => {
  const at = (minute: number) => `2026-01-05T10:0${minute}:00.000Z`;
  const asked = (minute: number, text: string, actor: typeof mona | null = null) =>
    entry({ type: 'revise', at: at(minute), text, actor });
  const entries = [asked(9, 'Later.'), asked(5, 'The branch conflicts.'), asked(3, 'Shorter.', mona)];
  const run = (minute: number, kind: 'revise' | 'rewind' | 'retry' = 'revise') => ({ kind, createdAt: at(minute) });
  expect(askedFor(run(5), entries)).toEqual({ who: 'Deckhand', text: 'The branch conflicts.' });
  expect(askedFor(run(4), entries)).toEqual({ who: 'mona', text: 'Shorter.' });
  const rewound = entry({ type: 'rewind', at: at(5), text: 'Cut at 40', actor: mona });
  expect(askedFor(run(5, 'rewind'), [rewound, ...entries])).toEqual({ who: 'mona', text: 'Cut at 40' });
  expect([askedFor(run(5, 'retry'), entries), askedFor(run(5), [])]).toEqual([undefined, undefined]);
});

test('what somebody said is quoted; a commit or a pull request is part of the sentence', () => {
  const quoted = (type: string, text: string) => isQuoted(entry({ type, text }));
  // The page says it above.
  expect(isQuoted(entry({ type: 'run_failed', text: 'The checks fail.' }), 'The checks fail.')).toBe(false);
  expect(isQuoted(entry({ type: 'run_failed', text: 'The budget is used up.' }), 'The checks fail.')).toBe(true);
  const handoff = { summary: 'The run failed (budget): The budget is used up.', nextSteps: [] };
  expect(isQuoted(entry({ type: 'run_failed', text: 'The budget is used up.', handoff }))).toBe(false);
  expect([quoted('answer', 'Tabs.'), quoted('answer', ''), quoted('pushed', 'abc')]).toEqual([true, false, false]);
});

test('what an agent asks for is formatted as where it is decided; the words of people stay as they are', () => {
  const formatted = (type: string) => isMarkdown(entry({ type, text: '1. Read `a.js`.' }));
  expect(['wait_plan', 'wait_question', 'answer', 'run_failed'].map(formatted)).toEqual([true, true, false, false]);
});
