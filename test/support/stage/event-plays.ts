import type { Play } from './plays.ts';
import { commitTo, issue, plannedIssue, reviewedTask, say, startedTask, taskOnIssue } from './props.ts';
import type { Stage } from './stage.ts';

const repo = '/repos/mona/sample';
const mona = ({ github }: Stage) => github.as('mona');

/** An event that the emulator does not send by itself. */
const sent = (stage: Stage, event: string, payload: object) => stage.github.send(event, { sender: 'mona', ...payload });

/** Something that mona does to the issue of a new task. */
const toIssue =
  (method: string, end: string, body?: object): Play =>
  async (stage) => {
    const { number } = await startedTask(stage);
    return () => mona(stage)(method, `${repo}/issues/${number}${end}`, body);
  };

/** An event about the check run of a task in review. */
const aboutCheck =
  (event: 'check_run' | 'check_suite' | 'status', action: string | undefined, more: object = {}): Play =>
  async (stage) => {
    const { sha } = await reviewedTask(stage);
    const path = `${repo}/commits/${sha}/check-runs`;
    const { check_runs: checks } = await mona(stage)<{ check_runs: { id: number }[] }>('GET', path);
    const check = { id: checks[0]?.id, head_sha: sha, ...more };
    const payload = event === 'status' ? { sha } : { action, [event]: check, ...more };
    return () => sent(stage, event, payload);
  };

const review =
  (body: string): Play =>
  async (stage) => {
    const { pull } = await reviewedTask(stage);
    return () => mona(stage)('POST', `${repo}/pulls/${pull}/reviews`, { event: 'REQUEST_CHANGES', body });
  };

const lineComment =
  (body: string): Play =>
  async (stage) => {
    const { pull, sha } = await reviewedTask(stage);
    const { files } = { files: await mona(stage)<{ filename: string }[]>('GET', `${repo}/pulls/${pull}/files`) };
    const at = { path: files[0]?.filename, line: 1, side: 'RIGHT', commit_id: sha };
    return () => mona(stage)('POST', `${repo}/pulls/${pull}/comments`, { ...at, body });
  };

const toInstallation =
  (event: string, action: string): Play =>
  async (stage) => {
    const account = { id: 3, login: 'mona', type: 'User' };
    const installation = { id: 77, account, suspended_at: null };
    const body = JSON.stringify({ action, installation, sender: account });
    return () => stage.github.deliver(event, body);
  };

/** The type or the assignees of the issue of a new task change. */
const shownBesides =
  (action: string): Play =>
  async (stage) => {
    const { number } = await taskOnIssue(stage);
    stage.github.links.types.set(`${repo}/issues/${number}`, 'Bug');
    return () => sent(stage, 'issues', { action, issue: { number } });
  };

/** Links the issues of two new tasks. */
const linked =
  (request: (first: { number: number }, id: number) => [string, string, object]): Play =>
  async (stage) => {
    const [first, second] = [await taskOnIssue(stage), await taskOnIssue(stage)];
    const { id } = await mona(stage)<{ id: number }>('GET', `${repo}/issues/${second.number}`);
    return () => mona(stage)(...request(first, id));
  };

/** An automation that waits for an event. */
const automation = ({ ask, project, agent, repository }: Stage, { cause, title }: { cause: object; title: string }) =>
  ask('POST', `/projects/${project}/automations`, {
    ...{ name: title, on: cause, task: { title, owner: agent, repositoryId: repository } },
  });

/** For each webhook event that has a handler. */
export const eventPlays: Record<string, Play> = {
  'installation.created': toInstallation('installation', 'created'),
  'installation.unsuspend': toInstallation('installation', 'unsuspend'),
  'installation.new_permissions_accepted': toInstallation('installation', 'new_permissions_accepted'),
  'installation.deleted': toInstallation('installation', 'deleted'),
  'installation.suspend': toInstallation('installation', 'suspend'),
  installation_repositories: toInstallation('installation_repositories', 'added'),
  organization: toInstallation('organization', 'member_added'),
  repository: async (stage) => () =>
    sent(stage, 'repository', { action: 'edited', changes: { default_branch: { from: 'old' } } }),
  'issue_comment.created': async (stage) => {
    const { number } = await taskOnIssue(stage);
    return () => say(stage, number, '/agent nonsense');
  },
  'issue_comment.edited': async (stage) => {
    const { number } = await plannedIssue(stage);
    const comments = await mona(stage)<{ id: number; body: string }[]>('GET', `${repo}/issues/${number}/comments`);
    const plan = comments.find(({ body }) => body.startsWith('<!-- deckhand:plan -->'));
    const lines = (plan?.body ?? '').split('\n').filter((line) => line.startsWith('- [ ] '));
    const ticked = [lines[0], lines.at(-1)];
    const body = plan?.body.replace(/^- \[ \] .*$/gm, (line) =>
      ticked.includes(line) ? line.replace('[ ]', '[x]') : line,
    );
    return () => mona(stage)('PATCH', `${repo}/issues/comments/${plan?.id}`, { body });
  },
  'issues.opened': async (stage) => () => issue(stage, 'please\n\n/agent start'),
  'issues.closed': toIssue('PATCH', '', { state: 'closed' }),
  'issues.edited': toIssue('PATCH', '', { body: 'by name' }),
  'issues.assigned': shownBesides('assigned'),
  'issues.unassigned': shownBesides('unassigned'),
  'issues.typed': shownBesides('typed'),
  'issues.untyped': shownBesides('untyped'),
  sub_issues: linked(({ number }, id) => ['POST', `${repo}/issues/${number}/sub_issues`, { sub_issue_id: id }]),
  issue_dependencies: linked(({ number }, id) => [
    'POST',
    `${repo}/issues/${number}/dependencies/blocked_by`,
    { issue_id: id },
  ]),
  'issues.reopened': async (stage) => {
    const { number, task } = await taskOnIssue(stage);
    await mona(stage)('PATCH', `${repo}/issues/${number}`, { state: 'closed' });
    await stage.settle();
    await stage.sql(`update tasks set status = 'done' where id = $1`, [task]);
    return () => mona(stage)('PATCH', `${repo}/issues/${number}`, { state: 'open' });
  },
  'issues.deleted': async (stage) => {
    const { number } = await taskOnIssue(stage);
    return () => sent(stage, 'issues', { action: 'deleted', issue: { number } });
  },
  'issues.transferred': async (stage) => {
    const { number } = await taskOnIssue(stage);
    return () => sent(stage, 'issues', { action: 'transferred', issue: { number } });
  },
  'issues.labeled': async (stage) => {
    const number = await issue(stage);
    return () => mona(stage)('POST', `${repo}/issues/${number}/labels`, { labels: ['agent:run'] });
  },
  'issues.unlabeled': async (stage) => {
    const { number } = await taskOnIssue(stage);
    return () => mona(stage)('DELETE', `${repo}/issues/${number}/labels/agent:backlog`);
  },
  'label.deleted': async (stage) => async () => {
    await mona(stage)('DELETE', `${repo}/labels/agent:ready`);
    await sent(stage, 'label', { action: 'deleted', label: { name: 'agent:ready' } });
  },
  pull_request: async (stage) => {
    const { pull } = await reviewedTask(stage);
    return () => mona(stage)('PATCH', `${repo}/pulls/${pull}`, { state: 'closed' });
  },
  'pull_request.labeled': async (stage) => {
    const { pull } = await reviewedTask(stage);
    return () => mona(stage)('POST', `${repo}/issues/${pull}/labels`, { labels: ['agent:ready'] });
  },
  'pull_request.unlabeled': async (stage) => {
    const { pull } = await reviewedTask(stage);
    return () => mona(stage)('DELETE', `${repo}/issues/${pull}/labels/agent:in-review`);
  },
  'pull_request_review.submitted': review('rename it'),
  pull_request_review_comment: lineComment('Why is it called so?'),
  'pull_request_review_comment.created': lineComment('/agent revise rename it'),
  'check_suite.completed': aboutCheck('check_suite', 'completed'),
  'check_run.completed': async (stage) => {
    const { sha } = await reviewedTask(stage);
    const octokit = await stage.service.app.github?.asInstallation(77);
    const failed = { name: 'tests', head_sha: sha, status: 'completed', conclusion: 'failure' };
    const made = (await octokit?.request(`POST ${repo}/check-runs`, failed)) as { data: { id: number } };
    return () => sent(stage, 'check_run', { action: 'completed', check_run: { id: made.data.id, head_sha: sha } });
  },
  status: aboutCheck('status', undefined),
  'check_run.rerequested': aboutCheck('check_run', 'rerequested'),
  'check_suite.rerequested': aboutCheck('check_suite', 'rerequested'),
  'check_run.requested_action': async (stage) => {
    const { pull, sha } = await reviewedTask(stage);
    await say(stage, pull, '/agent revise rename it');
    await stage.settle();
    const path = `${repo}/commits/${sha}/check-runs`;
    const { check_runs: checks } = await mona(stage)<{ check_runs: { id: number }[] }>('GET', path);
    const about = { check_run: { id: checks[0]?.id, head_sha: sha }, requested_action: { identifier: 'cancel' } };
    return () => sent(stage, 'check_run', { action: 'requested_action', ...about });
  },
  'pull_request.opened': async (stage) => {
    const wanted = { cause: { event: 'pull_request.opened' }, title: '{{ pull_request.title }}' };
    await automation(stage, wanted);
    const body = { title: 'By a person', head: 'by-a-person', base: 'main' };
    await commitTo(stage, body.head);
    return () => mona(stage)('POST', `${repo}/pulls`, body);
  },
  'release.published': async (stage) => {
    await automation(stage, { cause: { event: 'release.published' }, title: '{{ release.tag }}' });
    const release = { id: 5, tag_name: 'v1', name: 'One', body: '', html_url: `https://github.com${repo}/releases/1` };
    return () => sent(stage, 'release', { action: 'published', release });
  },
  push: async (stage) => {
    await reviewedTask(stage);
    const sha = await commitTo(stage, 'main');
    return () => sent(stage, 'push', { ref: 'refs/heads/main', after: sha, commits: [] });
  },
};
