import { approvalText } from '../../src/domain/waiting.ts';
import { commandTable } from '../../src/github/comments.ts';
import { failedLabel, labelOf, ownLabels } from '../../src/github/labels.ts';
import { wanted } from '../../src/github/mirror/mirror.ts';
import { visibleApproval, visibleEvent } from '../../src/github/mirror/private-parts.ts';
import { statusMarker, type TaskPicture } from '../../src/github/mirror/status-comment.ts';

const picture: TaskPicture = {
  id: 'task_1',
  title: 'T',
  status: 'in_review',
  agent: 'Developer',
  branchName: 'agent/12345678-t',
  failure: null,
  attention: null,
  merging: null,
  dropped: [],
  cancelledBecause: null,
  issueText: null,
  budget: null,
  notice: '',
  taskNames: new Map(),
  run: {
    url: 'http://x/tasks/task_1/runs/run_1',
    kind: 'start',
    status: 'succeeded',
    steps: 3,
    startedAt: new Date(0),
    finishedAt: new Date(75_000),
    waitedSeconds: 10,
    costUsd: 0.1,
  },
  earlier: [],
  lines: [],
  subtasks: [],
  pulls: [{ url: 'https://github.com/o/r/pull/2', number: 2, repositoryName: 'r', status: 'open', isPrivate: true }],
  handoff: { summary: 'Did it.', nextSteps: ['then that'] },
  proof: null,
  costUsd: 0.123,
  taskUrl: 'http://x/tasks/task_1',
  commandPrefix: '/agent',
};

const secret = { isPrivate: true };
const open = { isPrivate: false };

test('a task has one status label, and agent:failed after a failure', () => {
  expect(wanted(picture, secret).labels).toEqual(['agent:in-review']);
  const failure = { category: 'model' as const, message: 'gone', retryable: true };
  expect(wanted({ ...picture, status: 'ready', failure }, secret).labels).toEqual(['agent:ready', failedLabel]);
  expect(ownLabels.size).toBe(Object.keys(labelOf).length + 2);
});

test('the check run of a commit that is not ready is never green, neither is it one that GitHub takes for passed', () => {
  const unready = { ...secret, isUnready: true };
  const subtasks = wanted({ ...picture, status: 'waiting_on_subtasks' }, unready);
  expect(subtasks.check).toMatchObject({
    conclusion: 'action_required',
    title: '🧩 Waiting on subtasks, not ready to merge',
  });
  const failed = { ...picture.run, status: 'failed' } as TaskPicture['run'];
  for (const run of [picture.run, failed, null])
    expect(wanted({ ...picture, run }, unready).check.conclusion).toBe('action_required');
  expect(wanted(picture, secret).check.conclusion).toBe('success');
  // A change of the essence is shown at once, so nobody takes the commit for ready in the meantime.
  expect(wanted(picture, unready).essence).not.toBe(wanted(picture, secret).essence);
});

test('the comment shows status, agent, run, pull request, cost and handoff', () => {
  const { comment } = wanted(picture, secret);
  expect(comment.startsWith(`${statusMarker}\n`)).toBe(true);
  for (const part of [
    'In review',
    'Developer',
    'start: succeeded, 3 steps, 1 min 5 s · [View this run](http://x/tasks/task_1/runs/run_1)',
    '[r#2](https://github.com/o/r/pull/2) (open)',
    '$0.12',
    'Did it.',
    'next: then that',
  ])
    expect(comment).toContain(part);
});

test('the comment and the check run say in one sentence what the tests prove', () => {
  const { comment, check } = wanted({ ...picture, proof: { status: 'proved', reason: null } }, secret);
  for (const text of [comment, check.summary])
    expect(text).toMatch(/^✅ Its tests fail without it, and the earlier tests pass with it\.$/m);
  const reason = 'test/a.js <!-- @octocat\n/agent merge decides how the tests run';
  const doubted = wanted({ ...picture, proof: { status: 'unproved', reason } }, secret).comment;
  expect(doubted).toMatch(/^Not proved by its tests: test\/a.js .* decides how the tests run\.$/m);
  expect(doubted).not.toMatch(/@octocat|^\/agent merge/m);
});

test('a cost of less than a cent is not shown as nothing', () => {
  expect(wanted({ ...picture, costUsd: 0.004 }, secret).comment).toContain('under $0.01');
  expect(wanted({ ...picture, costUsd: 0 }, secret).comment).toContain('$0.00');
});

test('a budget is shown, and a change of it is shown immediately', () => {
  const limited = wanted({ ...picture, budget: { costUsd: 8, steps: 200 } }, secret);
  expect(limited.comment).toContain('| **Budget** | $8, 200 steps per run |');
  expect(limited.essence).not.toBe(wanted(picture, secret).essence);
});

test('a comment in a public repository names no private one', () => {
  expect(wanted(picture, open).comment).not.toContain('pull/2');
});

test('a failure comes with its remedy', () => {
  const message = 'the budget of 5 steps is used up (limit of the project)';
  const failure = { category: 'budget' as const, message, retryable: false };
  expect(wanted({ ...picture, failure }, secret).comment).toMatch(
    /Failed \(budget\)\*\*: the budget of 5 steps[\s\S]*Ask an admin of the project to raise its budget/,
  );
});

test('text by people and models cannot act as markup or commands', () => {
  const hostile = '@octocat closes #1 | <!-- \n/agent merge\n# big';
  const { comment } = wanted(
    { ...picture, agent: hostile, notice: hostile, handoff: { summary: hostile, nextSteps: [hostile] } },
    secret,
  );
  expect(comment).not.toMatch(/@octocat|#1\b|^\/agent merge|^# big/m);
  expect(comment.match(/<!--/g)).toHaveLength(1);
  for (const row of comment.split('\n').filter((l) => l.startsWith('| **')))
    expect(row.replaceAll('\\|', '').match(/\|/g)).toHaveLength(3);
});

test('the comment never exceeds 60,000 characters, and progress alone does not count as an essential change', () => {
  const huge = { summary: 'x'.repeat(100_000), nextSteps: Array.from({ length: 500 }, () => 'y'.repeat(1000)) };
  expect(wanted({ ...picture, handoff: huge }, secret).comment.length).toBeLessThan(60_000);
  const run = picture.run && { ...picture.run, steps: 99 };
  expect(wanted({ ...picture, run }, secret).essence).toBe(wanted(picture, secret).essence);
  expect(wanted({ ...picture, status: 'done' }, secret).essence).not.toBe(wanted(picture, secret).essence);
});

test('the comment shows the current step, the latest steps, folded earlier runs and a list of subtasks', () => {
  const run = { ...(picture.run as NonNullable<TaskPicture['run']>), status: 'running' as const, finishedAt: null };
  const lines = [{ at: new Date(3_600_000), text: 'edits @octocat a.ts' }];
  const subtasks = [{ id: 'task_2', title: 'Half', status: 'done' as const, issueUrl: null, isPrivate: false }];
  const earlier = [{ ...run, kind: 'start' as const, status: 'failed' as const, costUsd: 0.5 }];
  const { comment, check } = wanted({ ...picture, status: 'in_progress', run, lines, subtasks, earlier }, secret);
  for (const text of [comment, check.summary])
    expect(text).toContain('[Watch this run](http://x/tasks/task_1/runs/run_1)');
  expect(comment).toContain('**Now:** edits @\u2060octocat a.ts');
  expect(comment).toContain('- `01:00:00 UTC` edits');
  expect(comment).toContain('- [x] Half');
  expect(comment).toMatch(/<details><summary>Earlier runs \(1\)<\/summary>[\s\S]*\$0\.50[\s\S]*<\/details>/);
});

test('a run that waits is shown in the comment and the check run, can be cancelled, and adds no label', () => {
  const run = { ...(picture.run as NonNullable<TaskPicture['run']>), status: 'waiting' as const, finishedAt: null };
  const attention = { id: 'wait_1', reason: 'model' as const, text: 'HTTP 429 @octocat', options: [] };
  const shown = wanted({ ...picture, status: 'in_progress', run, attention }, secret);
  expect(shown.comment).toContain('> **⏸️ Waiting for the model**: HTTP 429 @\u2060octocat');
  expect(shown.comment).toContain('start: waiting, 3 steps');
  expect(shown.labels).toEqual(['agent:in-progress']);
  expect(shown.check).toMatchObject({
    status: 'in_progress',
    title: '⏸️ Waiting for the model',
    actions: [{ identifier: 'cancel' }],
  });
  const running = wanted({ ...picture, status: 'in_progress', run: { ...run, status: 'running' } }, secret);
  expect(shown.essence).not.toBe(running.essence);
  const paused = { ...attention, reason: 'paused' as const, text: 'Paused by octocat.' };
  const held = wanted({ ...picture, status: 'in_progress', run, attention: paused }, secret);
  expect(held.labels).toEqual(['agent:in-progress', 'agent:needs-you']);
  expect(held.comment).toContain('> **⏸️ Paused**: Paused by octocat.\n> `/agent resume` continues the run.');
  const question = { ...attention, reason: 'question' as const, text: 'Which\none?', options: ['tabs', '@octocat'] };
  expect(wanted({ ...picture, status: 'in_progress', run, attention: question }, secret).comment).toContain(
    '**: Which one?\n\n- [ ] 1. tabs\n- [ ] 2. @\u2060octocat\n\n> `/agent answer <number or text>` answers',
  );
  const plan = {
    ...attention,
    reason: 'plan' as const,
    text: '# Plan\n\n- one #1',
    plan: { files: ['src/**'], checks: ['npm test'] },
  };
  const planned = wanted({ ...picture, status: 'in_progress', run, attention: plan }, secret).comment;
  expect(planned).toContain('> `/agent approve` lets the agent carry it out');
  expect(planned).toContain(
    '# Plan\n\n- one #\u20601\n\n**Files that will change**\n\n- src/**\n\n**Checks**\n\n- npm test',
  );
  expect(held.essence).not.toBe(
    wanted({ ...picture, status: 'in_progress', run, attention: { ...paused, id: 'wait_2' } }, secret).essence,
  );
});

test('the check run shows the state and offers the possible actions', () => {
  const run = picture.run as NonNullable<TaskPicture['run']>;
  expect(wanted(picture, secret).check).toMatchObject({ status: 'completed', conclusion: 'success', actions: [] });
  const running = wanted({ ...picture, status: 'in_progress', run: { ...run, status: 'running' } }, secret).check;
  expect(running).toMatchObject({ status: 'in_progress', actions: [{ identifier: 'cancel' }] });
  expect(running.conclusion).toBeUndefined();
  const failure = { category: 'model' as const, message: 'gone', retryable: true };
  const failed = wanted({ ...picture, failure, run: { ...run, status: 'failed' } }, secret).check;
  expect(failed).toMatchObject({ conclusion: 'failure', title: 'Failed (model)', actions: [{ identifier: 'retry' }] });
  // Whatever the run says, the task is in progress until its end has moved it.
  for (const status of ['succeeded', 'failed'] as const) {
    const early = wanted({ ...picture, status: 'in_progress', run: { ...run, status } }, secret).check;
    expect([early.status, early.conclusion]).toEqual(['in_progress', undefined]);
  }
  const setAside = wanted({ ...picture, status: 'ready', failure: null, run: { ...run, status: 'failed' } }, secret);
  expect(setAside.check.conclusion).toBe('neutral');
  // GitHub's limits (docs.github.com, "Create a check run").
  for (const { label, description, identifier } of [...running.actions, ...failed.actions])
    expect([label.length <= 20, description.length <= 40, identifier.length <= 20]).toEqual([true, true, true]);
});

test("the comment stays within GitHub's limit, however long its parts are", () => {
  const long = 'x @a #1 <!-- '.repeat(20_000);
  const lines = Array.from({ length: 500 }, () => ({ at: new Date(0), text: long }));
  const subtasks = Array.from({ length: 1000 }, () => ({
    id: 't',
    title: long,
    status: 'done' as const,
    issueUrl: null,
    isPrivate: false,
  }));
  const { comment, check } = wanted(
    { ...picture, lines, subtasks, handoff: { summary: long, nextSteps: [long] } },
    secret,
  );
  expect(comment.length).toBeLessThanOrEqual(60_000);
  expect(check.summary.length).toBeLessThanOrEqual(65_535);
});

test('a refusal calls tasks by their issues, and the commands are a table', () => {
  const id = 'task_01m7xxm447fap8m1vcx47q1cwc';
  const taskNames = new Map([[id, '#12']]);
  const { comment } = wanted({ ...picture, notice: `It waits for ${id} and names #13.`, taskNames }, secret);
  expect(comment).toContain('> It waits for #12 and names #\u206013.');
  const table = commandTable([{ command: '/agent budget <$8|none>', does: 'limits it' }]);
  expect(wanted({ ...picture, notice: table }, secret).comment).toContain(
    '\n\n| Command | |\n| --- | --- |\n| `/agent budget <$8\\|none>` | limits it |\n\n',
  );
});

test('in public, a wait for an approval counts the lines about private repositories, and names none of them', () => {
  const text = approvalText({
    setup: ['package.json: it adds a'],
    expectations: [
      'Expectations changed: a fails',
      'vault: Expectations changed: pays twice',
      'docs: Expectations changed',
    ],
    findings: [
      '../vault/prod.pem:1 contains what looks like a private key',
      'a.pem:1 contains what looks like a private key',
    ],
    files: ['README.md', '../vault/a b.ts', '..//gone/c.ts', '../docs/d.md'],
  });
  const shown = visibleApproval(text, { own: true, others: new Set(['docs']) });
  expect(shown).toBe(
    approvalText({
      setup: ['package.json: it adds a'],
      expectations: [
        'Expectations changed: a fails',
        'docs: Expectations changed',
        '1 line about a private repository; the page of the task shows it',
      ],
      findings: [
        'a.pem:1 contains what looks like a private key',
        '1 line about a private repository; the page of the task shows it',
      ],
      files: ['README.md', '../docs/d.md', '2 lines about private repositories; the page of the task shows them'],
    }),
  );
  const elsewhere = visibleApproval(text, { own: false, others: new Set(['docs']) });
  expect(elsewhere).not.toMatch(/vault|README|a\.pem|a fails|package|gone/);
  expect(elsewhere).toContain('docs: Expectations changed');
  const event = { type: 'waiting', text: `waiting: ${text}`, data: { reason: 'push' } };
  expect(visibleEvent(event)).toBe('waiting for approval of the change');
  expect(visibleEvent({ ...event, data: { reason: 'question' } })).toBe(event.text);
});
