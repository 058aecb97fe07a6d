import { gitOut, gitWith } from '../git.ts';
import type { Stage } from './stage.ts';

const name = 'mona/sample';
const repo = `/repos/${name}`;
let count = 0;

/** A number that no other play has. Snapshots leave it out. */
const nr = () => `nr${++count}`;

/** Opens an issue as mona. */
export async function issue({ github }: Stage, body = 'please'): Promise<number> {
  const made = await github.as('mona')<{ number: number }>('POST', `${repo}/issues`, { title: 'Greet', body });
  return made.number;
}

export async function say({ github }: Stage, number: number, body: string): Promise<number> {
  return (await github.as('mona')<{ id: number }>('POST', `${repo}/issues/${number}/comments`, { body })).id;
}

export interface OnIssue {
  number: number;
  task: string;
}

/** Makes a task of a new issue, with a command. */
export async function taskOnIssue(stage: Stage, command = 'create'): Promise<OnIssue> {
  const number = await issue(stage);
  await say(stage, number, `/agent ${command}`);
  await stage.settle();
  const [row] = await stage.sql<{ id: string }>('select id from tasks where issue_number = $1', [number]);
  if (row === undefined) throw new Error(`issue ${number} has no task after ${command}`);
  return { number, task: row.id };
}

/** Makes a task whose run is queued. */
export const startedTask = (stage: Stage) => taskOnIssue(stage, 'start');

/** Makes a task whose run waits for a person. */
export async function waitingTask(stage: Stage, reason: 'plan' | 'question' | 'paused'): Promise<OnIssue> {
  const made = await startedTask(stage);
  await stage.sql(
    `update runs set status = 'waiting', wait_id = 'wait_' || id, wait_reason = $2, wait_text = 'Well?',
       wait_options = '[]', waiting_since = now() - interval '1 minute' where task_id = $1`,
    [made.task, reason],
  );
  return made;
}

/** Makes a task whose run has failed. */
export async function failedTask(stage: Stage): Promise<OnIssue> {
  const made = await startedTask(stage);
  await stage.ask('POST', `/tasks/${made.task}/cancel`);
  await stage.settle();
  return made;
}

/** Makes a task whose run has ended after two turns. */
export async function talkedTask(stage: Stage): Promise<OnIssue> {
  const made = await failedTask(stage);
  const [run] = await stage.ask<{ id: string }[]>('GET', `/tasks/${made.task}/runs`);
  await stage.sql(`insert into run_contexts (run_id, opening) values ($1, '[]')`, [run?.id]);
  await stage.sql(
    `insert into run_turns (run_id, turn, messages, input_tokens)
     select $1, n, '[{"role":"assistant","content":"hm","toolCalls":[]}]', 5 from generate_series(0, 1) n`,
    [run?.id],
  );
  return made;
}

export interface InReview extends OnIssue {
  pull: number;
  sha: string;
  branch: string;
}

/** Makes a task in review, whose pull request a person could merge. */
export async function reviewedTask(stage: Stage): Promise<InReview> {
  const made = await startedTask(stage);
  const branch = `agent/${made.task.slice(-8)}-greet`;
  const sha = await commitTo(stage, branch);
  const octokit = await stage.service.app.github?.asInstallation(77);
  const { data } = (await octokit?.request(`POST ${repo}/pulls`, {
    ...{ title: 'Greet', body: `Closes #${made.number}`, head: branch, base: 'main' },
  })) as { data: { number: number; html_url: string } };
  // Before the pull request is known, so that nobody reads its diff, which takes seconds.
  await stage.settle();
  await stage.sql(`update runs set status = 'succeeded', finished_at = now() where task_id = $1`, [made.task]);
  await stage.sql(`update tasks set status = 'in_review', branch_name = $2 where id = $1`, [made.task, branch]);
  await stage.sql(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, base_branch)
     values ($1, $2, $3, $4, 'open', $5, $6, 'main')`,
    [made.task, stage.repository, data.number, data.html_url, branch, sha],
  );
  await mirror(stage, made.task);
  return { ...made, pull: data.number, sha, branch };
}

/** Makes a task that is done, because its pull request was merged. */
export async function mergedTask(stage: Stage): Promise<InReview> {
  const made = await reviewedTask(stage);
  await stage.github.as('mona')('PUT', `${repo}/pulls/${made.pull}/merge`, {});
  const thrown = await stage.settle();
  if (thrown.length > 0) throw new Error(`the merge was not noticed: ${thrown.join()}`);
  return made;
}

/** Adds a file to a branch, which begins at main, and returns the commit. */
export async function commitTo({ github }: Stage, branch: string): Promise<string> {
  const folder = github.folderOf(name);
  const blob = gitWith(folder, 'x\n', 'hash-object', '-w', '--stdin');
  const tree = gitWith(folder, `${gitOut(folder, 'ls-tree', 'main')}\n100644 blob ${blob}\t${nr()}.txt\n`, 'mktree');
  const sha = gitOut(folder, 'commit-tree', tree, '-p', 'main', '-m', 'feat: greet');
  gitOut(folder, 'update-ref', `refs/heads/${branch}`, sha);
  await github.showBranches(name);
  return sha;
}

/** Makes GitHub show a task. */
async function mirror(stage: Stage, taskId: string): Promise<void> {
  await stage.service.app.queue.send(undefined, 'mirror', { taskId, recheck: true }, { key: taskId });
  const thrown = await stage.settle();
  if (thrown.length > 0) throw new Error(`the task cannot be shown: ${thrown.join()}`);
}

export async function sprint(stage: Stage): Promise<{ id: string; name: string }> {
  const named = nr();
  const dates = { startDate: '2026-01-01', endDate: '2026-01-14' };
  return stage.ask('POST', `/projects/${stage.project}/sprints`, { name: named, ...dates });
}

/** Plans a sprint in an issue, up to its last question. */
export async function plannedIssue(stage: Stage, answers = 0): Promise<{ number: number; session: string }> {
  const number = await issue(stage);
  await say(stage, number, '/agent plan');
  await stage.settle();
  for (let i = 0; i < answers; i++) {
    await say(stage, number, '/agent answer 1');
    await stage.settle();
  }
  const [row] = await stage.sql<{ id: string }>('select id from wizard_sessions where issue_number = $1', [number]);
  if (row === undefined) throw new Error(`issue ${number} has no plan`);
  return { number, session: row.id };
}
