import pg from 'pg';
import type { DemoGitHub } from '../../demo/github/github.ts';
import type { SiegeIssue } from './traffic.ts';

/**
 * Returns what is wrong at the end, one sentence per problem. The list is empty if the command of every issue was
 * handled exactly once.
 */
export async function wrongAfter(
  databaseUrl: string,
  github: DemoGitHub,
  owner: string,
  issues: SiegeIssue[],
): Promise<string[]> {
  const wrong: string[] = [];
  const tasks = await tasksByIssue(databaseUrl);
  for (const [i, issue] of issues.entries()) {
    const name = `${issue.repository}#${issue.number}`;
    const found = tasks.get(name) ?? [];
    const [task] = found;
    const isHostile = i === 0;
    const faults = [
      ...(found.length === 1 ? [] : [`has ${found.length} tasks`]),
      ...(task === undefined ? [] : wrongWithTask(task, issue.asks, isHostile)),
      ...(await wrongOnGitHub(github, owner, issue, task?.status ?? '')),
    ];
    wrong.push(...faults.map((fault) => `${name} ${fault}`));
  }
  return wrong;
}

/** Returns what is wrong with a task. The hostile task may end in any status, with or without a pull request. */
function wrongWithTask(task: Found, asks: SiegeIssue['asks'], isHostile: boolean): string[] {
  const status = asks === 'create' ? 'backlog' : 'in_review';
  const count = asks === 'start' ? 1 : 0;
  const wrong: string[] = [];
  if (task.status !== status && !isHostile) wrong.push(`is ${task.status}, not ${status}: ${task.failure ?? ''}`);
  if (task.runs !== count) wrong.push(`has ${task.runs} runs, not ${count}`);
  if (task.pulls !== count && !isHostile) wrong.push(`has ${task.pulls} pull requests, not ${count}`);
  return wrong;
}

interface Found {
  status: string;
  failure: string | null;
  runs: number;
  pulls: number;
}

async function tasksByIssue(databaseUrl: string): Promise<Map<string, Found[]>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<Found & { name: string }>(
    `select rep.name || '#' || t.issue_number as name, t.status, t.failure ->> 'message' as failure,
       (select count(*)::int from runs r where r.task_id = t.id) as runs,
       (select count(*)::int from pull_requests p where p.task_id = t.id) as pulls
     from tasks t join repositories rep on rep.id = t.issue_repository_id`,
  );
  await client.end();
  const byIssue = new Map<string, Found[]>();
  for (const row of rows) byIssue.set(row.name, [...(byIssue.get(row.name) ?? []), row]);
  return byIssue;
}

async function wrongOnGitHub(
  github: DemoGitHub,
  owner: string,
  { repository, number }: SiegeIssue,
  status: string,
): Promise<string[]> {
  const at = `/repos/${owner}/${repository}/issues/${number}`;
  const call = github.as(owner);
  const labels = (await call<{ name: string }[]>('GET', `${at}/labels`)).map((l) => l.name);
  const states = labels.filter((l) => l.startsWith('agent:') && l !== 'agent:failed');
  const comments = await call<{ user: { login: string } }[]>('GET', `${at}/comments?per_page=100`);
  const own = comments.filter((c) => c.user.login.endsWith('[bot]')).length;
  const wanted = `agent:${status.replaceAll('_', '-')}`;
  return [
    ...(states.join() === wanted ? [] : [`shows ${states.join() || 'no label'}, not ${wanted}`]),
    ...(own === 1 ? [] : [`has ${own} comments by the App`]),
    ...(labels.includes('bug') ? [] : ["lost its owner's label"]),
  ];
}

/** Returns how many pull requests GitHub has beyond one per branch. */
export async function doubledPulls(github: DemoGitHub, owner: string, repositories: string[]): Promise<number> {
  let doubled = 0;
  for (const name of repositories) {
    const pulls = await github.as(owner)<{ head: { ref: string } }[]>(
      'GET',
      `/repos/${owner}/${name}/pulls?state=all&per_page=100`,
    );
    doubled += pulls.length - new Set(pulls.map((p) => p.head.ref)).size;
  }
  return doubled;
}
