import type { App } from '../../app.ts';
import { type AgentRow, type RepositoryRow, type UserRow, Users } from '../../db/tables.ts';
import { PullRequests, type RunRow, Tasks } from '../../db/work-tables.ts';
import { isAgentBranch } from '../../domain/branch.ts';
import { RunFailed } from '../../domain/run.ts';
import { taskPage } from '../../domain/task-page.ts';
import { closedBlocks, harmless, harmlessLine } from '../../domain/text/quoted.ts';
import { diffOf } from '../../git/diff.ts';
import type { Person } from '../../git/engine.ts';
import { type Credential, octokitFor } from '../../repositories/credentials.ts';
import { ensurePull, type OpenedPull } from '../../repositories/pulls.ts';
import type { TaskView } from '../../tasks/store.ts';
import { upsertDiff } from '../../tasks/work-store.ts';
import type { FinishArguments } from '../agent/tools.ts';
import { type Journal, stepOf } from '../lease/journal.ts';
import type { RepositorySettings } from '../settings/repository-settings.ts';
import { lockForPush } from '../store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Patience } from './patience.ts';
import type { CheckResult } from './verify.ts';

/** What a run has in hand when it comes to show its work. */
export interface Work extends Workspace {
  run: RunRow;
  task: TaskView;
  agent: AgentRow;
  repository: RepositoryRow;
  credential: Credential;
  /** When the token that git speaks with ends; undefined for one that does not. */
  tokenEndsAt: Date | undefined;
  /** The other repositories that the run has opened. */
  also: Work[];
  journal: Journal;
  /** The live credentials that must not leave the service. */
  secrets: string[];
  /** For steps that need the git host or GitHub. */
  patience: Patience;
  /** Aborted when the run is no longer ours. */
  signal: AbortSignal;
  /** What the repository says of how agents work in it. */
  settings: RepositorySettings;
  /** What its checks said in the end. */
  checks?: CheckResult[];
}

export interface Pushed {
  commit: string;
}

/**
 * Commits a tree that was looked at and pushes it to the task's branch. Author, date and parent are fixed, so a repetition makes the
 * same commit and the push has nothing to do.
 */
export async function pushWork(app: App, work: Work, tree: string, title: string): Promise<Pushed> {
  const { run, task, checkout, branch, journal, repository, credential } = work;
  const push = async () => {
    if (!isAgentBranch(branch.name)) throw new RunFailed('internal', `${branch.name} is no branch of an agent`);
    const commit = await checkout.commit({
      tree,
      parents: branch.conflicts === undefined ? [branch.from] : [branch.from, branch.base],
      message: await commitMessage(app, work, title),
      author: await authorFor(app, credential),
      at: run.startedAt ?? run.createdAt,
    });
    // A cancel waits here, and no push begins after one.
    const pushing = app.db.transaction(async (em) => {
      await lockForPush(em, run.id);
      await journal.note('push', `pushing ${commit.slice(0, 7)} to ${branch.name}`);
      await checkout.push(commit, branch.name);
    });
    // Side by side; the push is waited for whatever the other comes to.
    const [diff] = await Promise.allSettled([diffOfBranch(work, commit, pushing), pushing]);
    await pushing;
    // Branch and diff of a task are those in its own repository; the branch is known whatever becomes of the diff.
    const isOwn = repository.id === task.repositoryId;
    if (isOwn) await journal.write((em) => em.update(Tasks, { id: task.id }, { branchName: branch.name }));
    if (diff.status === 'rejected') throw diff.reason;
    const stored = { ...diff.value, branchName: branch.name, baseBranch: repository.defaultBranch, headSha: commit };
    if (isOwn) await journal.write((em) => upsertDiff(em, task.id, stored));
    return { commit };
  };
  return journal.once(stepOf('push', task, repository), () => work.patience(push));
}

/** The branch's own changes. A new branch begins where it left the default branch, wherever that has gone since. */
async function diffOfBranch({ checkout, repository, branch }: Work, commit: string, pushing: Promise<void>) {
  if (!branch.continues) return diffOf(checkout, branch.from, commit);
  const head = await checkout.fetch(repository.defaultBranch).catch(() => undefined);
  await pushing;
  return diffOf(checkout, (await checkout.mergeBase(head ?? branch.base, commit)) ?? branch.from, commit);
}

async function commitMessage(app: App, { run, task, agent }: Work, title: string): Promise<string> {
  const starter = run.startedBy === null ? null : await app.db.manager.findOneBy(Users, { id: run.startedBy });
  const trailers = [`Task: ${task.id}`, ...(starter === null ? [] : [`Co-authored-by: ${coAuthor(app, starter)}`])];
  const prefix = app.config.COMMAND_PREFIX;
  return `${harmlessLine(title, 72, prefix)}\n\nWork of the agent ${harmlessLine(agent.name, 100, prefix)}.\n\n${trailers.join('\n')}\n`;
}

function coAuthor(app: App, user: UserRow): string {
  const mail = user.githubId === null ? user.login : `${user.githubId}+${user.login}`;
  const name = harmlessLine(user.name || user.login, 100, app.config.COMMAND_PREFIX);
  return `${name.replace(/[<>]/g, '')} <${mail}@${noreplyHost(app)}>`;
}

/** Whose name stands on our commits: the App's bot, or the service where a project has a git token only. */
export async function authorFor(app: App, credential: Credential): Promise<Person> {
  if (credential.kind !== 'installation' || app.github === undefined)
    return { name: 'Deckhand', email: `deckhand@${noreplyHost(app)}` };
  const bot = await app.github.bot();
  return { name: bot.login, email: `${bot.id}+${bot.login}@${noreplyHost(app)}` };
}

function noreplyHost(app: App): string {
  return `users.noreply.${new URL(app.config.GITHUB_SERVER_URL).hostname}`;
}

/** Opens the pull request, or finds the one that is there. */
export async function proposeWork(app: App, work: Work, finish: FinishArguments, draft: boolean): Promise<OpenedPull> {
  const { task, repository, credential, branch, journal } = work;
  if (credential.kind === 'none' || credential.owner === '')
    throw new RunFailed('repository', 'pull requests need a repository on GitHub');
  const ensure = async () =>
    ensurePull(await octokitFor(app, credential), {
      owner: credential.owner,
      repo: credential.repo,
      head: branch.name,
      base: repository.defaultBranch,
      title: harmlessLine(finish.prTitle || task.title, 200, app.config.COMMAND_PREFIX),
      body: pullBody(app, work, finish),
      draft,
      signal: work.signal,
    });
  return journal.once(stepOf('pull', task, repository), async () => {
    const opened = await work.patience(ensure);
    await journal.write(async (em) => {
      await em.upsert(
        PullRequests,
        {
          taskId: task.id,
          repositoryId: repository.id,
          number: opened.number,
          url: opened.url,
          status: opened.status,
          headBranch: branch.name,
          headSha: opened.headSha,
        },
        ['repositoryId', 'number'],
      );
    });
    await journal.note('pull', `pull request ${opened.url}`, { number: opened.number });
    return opened;
  });
}

function pullBody(app: App, { task, repository, agent, run, checks = [] }: Work, finish: FinishArguments): string {
  const prefix = app.config.COMMAND_PREFIX;
  const isHere = task.issueRepositoryId === repository.id && task.issueNumber !== null;
  const parts = [
    closedBlocks(harmless(finish.prBody || finish.summary, prefix).slice(0, 30_000)),
    finish.nextSteps.length > 0
      ? `### Next steps\n${finish.nextSteps.map((s) => `- ${harmlessLine(s, 500, prefix)}`).join('\n')}`
      : '',
    checks.length > 0 ? `### Checks\n${checks.map(checkLine).join('\n')}` : '',
    isHere ? `Closes #${task.issueNumber}` : '',
    `---\nWork of the agent **${harmlessLine(agent.name, 100, prefix)}** on [${task.id}](${taskPage(app.config.BASE_URL, task.id)}), run \`${run.id}\`. A person reviews and merges.`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function checkLine({ command, passed, seconds }: CheckResult): string {
  return `- ${passed ? '✅' : '❌'} \`${command.replace(/[`\s]+/g, ' ').slice(0, 200)}\` (${seconds} s)`;
}

const togetherTitle = '### Together with';

/** Lets each pull request of a run name the others; one that does so already stays as it is. */
export async function linkPulls(app: App, work: Work): Promise<void> {
  const opened: { each: Work; pull: OpenedPull }[] = [];
  for (const each of [work, ...work.also]) {
    const pull = await work.journal.recall<OpenedPull>(stepOf('pull', work.task, each.repository));
    if (pull !== undefined) opened.push({ each, pull });
  }
  const link = async () => {
    for (const { each, pull } of opened) {
      if (each.credential.kind === 'none') continue;
      const octokit = await octokitFor(app, each.credential);
      const at = { owner: each.credential.owner, repo: each.credential.repo, pull_number: pull.number };
      const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
      if (data.body?.includes(togetherTitle)) continue;
      const others = opened.filter((o) => o.pull.url !== pull.url).map((o) => `- ${o.pull.url}`);
      const body = `${data.body ?? ''}\n\n${togetherTitle}\n${others.join('\n')}`;
      await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, body });
    }
    return {};
  };
  await work.journal.once('links', () => work.patience(link));
}
