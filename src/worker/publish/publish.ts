import type { App } from '../../app.ts';
import type { FinishArguments } from '../../conversation/tools/tool.ts';
import { RunFailed } from '../../domain/run.ts';
import { taskPage } from '../../domain/task.ts';
import { isBranchOf } from '../../domain/text/branch-names.ts';
import { harmlessLine, harmlessText, withoutCiSkips } from '../../domain/text/sanitize.ts';
import { diffOf } from '../../git/diff.ts';
import { maxBody } from '../../outgoing/fit-texts.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import { filledTemplate, templateOf } from '../../repositories/customs/fill-template.ts';
import { ensurePull, type OpenedPull } from '../../repositories/pulls.ts';
import { mayShowMcp, whyNotBeside } from '../../repositories/rights.ts';
import { demandsEvidence } from '../../repositories/settings/repository-settings.ts';
import { listOpened } from '../../runs/directors.ts';
import { deleteStep, hasMcpAnswers, insertStep, pushingStep, stepOf } from '../../runs/journal.ts';
import { setProvenCommit } from '../../runs/proof/proof-store.ts';
import { findRunOfReceipt } from '../../runs/receipts/store.ts';
import { lockForPush } from '../../runs/store.ts';
import { collisionsChanged } from '../../tasks/collisions/look.ts';
import { findTask, setTaskFields, type TaskView } from '../../tasks/store.ts';
import { listPullsIn, setUnreadySha, upsertDiff, upsertPull } from '../../tasks/work-store.ts';
import { type EvidenceOf, evidenceSection, isDraft, updateEvidence } from '../proof/publish-proof.ts';
import { allWorks, type Work } from '../work.ts';
import { parentsOf } from '../workspace/workspace.ts';
import { authorFor, commitMessage, titleOf } from './commit-message.ts';
import { addDetails } from './pull-details.ts';
import { giveReceipt } from './receipt.ts';
import { giveUpSigning, MoveRefused, moveBranch, removeRef, type Signing, signedOrNot, type Unsigned } from './sign.ts';
import { knownPulls, withdrawPull } from './withdraw.ts';

export interface Pushed {
  commit: string;
  /** The tree of the commit. */
  tree: string;
}

/** A step of an earlier version has no tree. */
type PushedStep = Pick<Pushed, 'commit'> & Partial<Pushed>;

/**
 * Pushes the judged files of the given repositories. Before the first push, each pull request that may not show them as
 * ready becomes a draft. `isProposed` means that `proposeWork` follows for each of them.
 * @throws StaysReady when that is not possible; then nothing is pushed
 */
export async function pushWorks(app: App, works: Work[], title: string, isProposed: boolean): Promise<void> {
  for (const each of works) await withdrawPull(app, each, isProposed);
  for (const each of works) await pushWork(app, each, title, () => withdrawPull(app, each, isProposed));
}

/**
 * Commits the tree that the evidence of a repository is about, and pushes it to the branch of the task. Author, date and
 * parents are fixed, so a retry creates the same commit and changes nothing. Where GitHub signs commits, its own one of the
 * same tree takes the place of that commit. `rightBefore` is called when nothing is left to wait for but the push itself.
 * @throws RunFailed `internal` when the commit would hold, or an earlier worker pushed, anything else
 */
export async function pushWork(
  app: App,
  work: Work,
  title: string,
  rightBefore: () => Promise<void> = async () => {},
): Promise<Pushed> {
  const { task, journal, repository, evidence } = work;
  if (evidence === undefined) throw new RunFailed('internal', `the files of ${repository.name} were not judged`);
  const { tree } = evidence;
  const pushed = await journal.once<PushedStep>(stepOf('push', task, repository), async () => {
    const signing = { faults: 0, hasRef: false };
    try {
      return await work.retrying(() => pushOnce(app, work, { tree, title, signing, rightBefore }));
    } finally {
      await removeRef(app, { ...work, name: work.run.id }, signing);
    }
  });
  if ((pushed.tree ?? (await treeOnBranch(work, pushed.commit))) !== tree)
    throw new RunFailed('internal', `other files of ${repository.name} were pushed than those that were judged; retry`);
  return { ...pushed, tree };
}

/** Returns the tree of a commit on the branch of the task, for a step of a version that recorded only the commit. */
async function treeOnBranch({ checkout, branch, retrying }: Work, commit: string): Promise<string> {
  await retrying(() => checkout.fetch(branch.name));
  return checkout.treeOf(commit);
}

interface Pushing {
  tree: string;
  title: string;
  signing: Signing;
  /** A person may mark the pull request as ready while the commit is signed. */
  rightBefore(): Promise<void>;
}

const mcpHeld =
  'The task has answers of MCP servers, which may not be shown in a public repository. Turn on sharePrivateContext in the project settings, or create a new task.';

/**
 * Checks that the repository may still show what the run has read elsewhere: its visibility, or the settings of the project, may have
 * changed since.
 * @throws RunFailed `repository`
 */
export async function assertMayShow(app: App, { run, task, repository }: Work): Promise<void> {
  const em = app.db.manager;
  const opened = await listOpened(em, run.id, repository.id);
  const isHeld = !(await mayShowMcp(em, repository)) && (await hasMcpAnswers(em, task.id));
  const why = isHeld ? mcpHeld : await whyNotBeside(app, repository.id, opened);
  if (why !== undefined) throw new RunFailed('repository', `nothing was pushed to ${repository.name}. ${why}`);
}

async function pushOnce(app: App, work: Work, asked: Pushing): Promise<Pushed> {
  const { run, task, checkout, branch, journal, repository } = work;
  const { tree, title, signing, rightBefore } = asked;
  await assertMayShow(app, work);
  await uploadLargeFiles(work, tree);
  const unsigned = await commitTree(app, work, tree, title);
  const commit = await signedOrNot(app, work, unsigned, signing);
  const isSigned = commit !== unsigned.commit;
  const at = { taskId: task.id, repositoryId: repository.id, headBranch: branch.name };
  if (isDraft(work)) await journal.write((em) => setUnreadySha(em, at, commit, 'unless its head is not ready'));
  await assertFree(work, commit);
  await notePushing(work, commit);
  const pushing = app.db.transaction(async (em) => {
    await lockForPush(em, run.id);
    await journal.note('push', `pushing ${commit.slice(0, 7)} to ${branch.name}`);
    await setProvenCommit(em, run.id, repository.id, commit);
    if (isSigned) return moveBranch(app, work, commit, rightBefore);
    await rightBefore();
    await checkout.push(commit, branch.name);
  });
  // The diff is computed during the push. `allSettled` waits for the push even if the diff fails, because the branch
  // has to be stored whenever the push succeeded.
  const [diff] = await Promise.allSettled([diffOfBranch(work, unsigned.commit, pushing), pushing]);
  try {
    await pushing;
  } catch (error) {
    if (!(error instanceof MoveRefused)) throw error;
    await giveUpSigning(work, unsigned, error);
    return pushOnce(app, work, asked);
  }
  if (isDraft(work)) await journal.write((em) => setUnreadySha(em, at, commit));
  // A task stores the branch and the diff of its own repository only. The branch exists now, even if its diff could not
  // be read.
  const isOwn = repository.id === task.repositoryId && run.kind !== 'fix';
  if (isOwn) await journal.write((em) => setTaskFields(em, task.id, { branchName: branch.name }));
  if (diff.status === 'rejected') throw diff.reason;
  const stored = { ...diff.value, branchName: branch.name, baseBranch: work.baseBranch, headSha: commit };
  if (isOwn) await journal.write((em) => upsertDiff(em, task.id, stored));
  // What GitHub says about its commit is compared with the commit.
  if (isSigned && (await checkout.fetch(branch.name)) === commit) await assertTree(work, commit, tree);
  return { commit, tree };
}

/**
 * Uploads the new contents of files in Git LFS. Before anything that has their pointers reaches the host: nobody could check
 * out a commit whose pointers have no objects.
 */
async function uploadLargeFiles({ checkout, branch }: Work, tree: string): Promise<void> {
  if (checkout.largeFiles === undefined) return;
  const [first = '', ...others] = parentsOf(branch);
  let changes = await checkout.changes(first, tree);
  // What a parent has already is on the host.
  for (const parent of others) {
    const since = new Map((await checkout.changes(parent, tree)).map((change) => [change.path, change]));
    changes = changes.filter(({ path }) => since.has(path));
  }
  await checkout.largeFiles.upload(tree, changes, `refs/heads/${branch.name}`);
}

/** Records what is about to be pushed, in place of a commit that was not. */
async function notePushing({ run, task, journal, repository, branch }: Work, commit: string): Promise<void> {
  const name = stepOf(pushingStep, task, repository);
  const before = await journal.recall<{ commit: string }>(name);
  if (before?.commit === commit) return;
  await journal.write(async (em) => {
    await deleteStep(em, run.id, name);
    await insertStep(em, run.id, name, { branch: branch.name, commit });
  });
}

/**
 * Checks that nobody else has created the branch of a run since the run chose its name. A push is never forced, but it
 * would move a branch that somebody created at a commit of the base branch.
 * @throws RunFailed
 */
async function assertFree({ checkout, branch }: Work, commit: string): Promise<void> {
  if (branch.continues) return;
  const head = await checkout.fetch(branch.name);
  if (head === undefined || head === commit) return;
  throw new RunFailed(
    'push_rejected',
    `somebody else has created the branch ${branch.name} since the run began; retry the task, and it gets another branch`,
  );
}

async function commitTree(app: App, work: Work, tree: string, title: string): Promise<Unsigned> {
  const { run, task, checkout, branch, credential } = work;
  // Whether the branch of somebody else may get a commit was asked before.
  if (run.kind !== 'fix' && !isBranchOf(task.id, branch.name))
    throw new RunFailed('internal', `${branch.name} is not a branch of this task`);
  const [parents, message] = [parentsOf(branch), await commitMessage(app, work, title)];
  const commit = await checkout.commit({
    tree,
    parents,
    message,
    author: await authorFor(app, credential),
    at: run.startedAt ?? run.createdAt,
  });
  await assertTree(work, commit, tree);
  return { commit, tree, parents, message };
}

/** @throws RunFailed `internal` when a commit holds anything else */
async function assertTree({ checkout }: Work, commit: string, tree: string): Promise<void> {
  const made = await checkout.treeOf(commit);
  if (made !== tree) throw new RunFailed('internal', `the commit ${commit} has the tree ${made} instead of ${tree}`);
}

/** Returns the changes of the branch since it left the base branch. */
async function diffOfBranch({ checkout, baseBranch, branch }: Work, commit: string, pushing: Promise<void>) {
  if (!branch.continues) return diffOf(checkout, branch.from, commit);
  const head = await checkout.fetch(baseBranch).catch(() => undefined);
  await pushing;
  return diffOf(checkout, (await checkout.mergeBase(head ?? branch.base, commit)) ?? branch.from, commit);
}

/** Opens a pull request for the branch of a repository, or finds the open one. */
export async function proposeWork(app: App, work: Work, finish: FinishArguments, draft: boolean): Promise<OpenedPull> {
  const { task, repository, credential, branch, journal, settings } = work;
  if (credential.kind === 'none' || credential.owner === '')
    throw new RunFailed('repository', 'the repository is not on GitHub, so no pull request can be opened');
  const pushed = await journal.recall<Pushed>(stepOf('push', task, repository));
  // What the run wrote is shown in the pull request, although it changed nothing.
  if (pushed === undefined) await assertMayShow(app, work);
  const commit = pushed?.commit ?? branch.from;
  const receiptOf =
    pushed === undefined ? await findRunOfReceipt(app.db.manager, task.id, repository.id, commit) : work.run.id;
  const about = { commit, receiptOf };
  // Its base may change while the run works. Then its checks say nothing about the result.
  const isMoved = (base: string | undefined) =>
    demandsEvidence(settings) && base !== undefined && base !== work.baseBranch;
  const mayBeReady = async (base: string | undefined) => !isMoved(base) && (await isHead(work, commit));
  const ensure = async () => {
    const isReady = !draft && (await isHead(work, commit));
    // An issue that was created together with the task may appear while its first run works.
    const issue = (await findTask(app.db.manager, task.id)) ?? task;
    return ensurePull(await octokitFor(app, credential), {
      owner: credential.owner,
      repo: credential.repo,
      head: branch.name,
      known: await knownPulls(app, work),
      base: work.baseBranch,
      title: await titleOf(app, work, finish.title || task.title, 200),
      body: pullBody(app, work, finish, { issue, about }),
      // A draft that the repository asks for is a person's to mark as ready.
      draft: !isReady || settings.pullRequest.draft === 'always',
      // If this run changed nothing, a person's decision that the pull request is ready stands.
      turnsDraft: pushed !== undefined && isDraft(work),
      mayBeReady,
      signal: work.signal,
    });
  };
  const pull = await journal.once(stepOf('pull', task, repository), async () => {
    const { seenAt, ...opened } = await work.retrying(ensure);
    const isElsewhere = isMoved(opened.base);
    if (branch.continues && !isElsewhere) await work.retrying(() => updateEvidence(app, work, opened.number, about));
    const { number, url, status } = opened;
    const pull = {
      taskId: task.id,
      repositoryId: repository.id,
      number,
      url,
      status,
      headBranch: branch.name,
      // Another base is found when the pull request is read next, which also withdraws what it says about checks.
      baseBranch: work.baseBranch,
      // GitHub may still show the head before the push.
      headSha: pushed?.commit ?? opened.headSha,
      // Nobody else pushed our own commit, so a command of the same second counts too; see `mustHaveSeen`.
      headSince: pushed === undefined ? seenAt : new Date(seenAt.getTime() - 1000),
    };
    const unready = isElsewhere
      ? { unreadySha: commit }
      : await unreadyOf(app, work, { number, commit, draft, hasPushed: pushed !== undefined });
    await journal.write(async (em) => {
      await upsertPull(em, { ...pull, ...unready });
      if (pushed !== undefined) await collisionsChanged(app, em, pull, false);
    });
    await journal.note('pull', `pull request ${opened.url}`, { number: opened.number });
    return opened;
  });
  if (pushed?.tree !== undefined) await giveReceipt(app, work, pull, pushed);
  await addDetails(app, work, pull);
  return pull;
}

/** Returns whether the branch is where the run left it. Its checks say nothing about commits that others pushed since. */
async function isHead({ checkout, branch, journal }: Work, commit: string): Promise<boolean> {
  const head = await checkout.fetch(branch.name);
  if (head === commit) return true;
  await journal.note('pull', `${branch.name} has other commits than the run checked, so nothing is marked as ready`);
  return false;
}

interface Proposed {
  number: number;
  commit: string;
  /** Whether a new pull request should be a draft. */
  draft: boolean;
  hasPushed: boolean;
}

/** Returns what to store about the commit of a pull request: whether it may be merged. */
async function unreadyOf(app: App, work: Work, { number, commit, draft, hasPushed }: Proposed) {
  const pulls = await listPullsIn(app.db.manager, work.task.id, work.repository.id);
  const isNew = !pulls.some((pull) => pull.number === number);
  const isUnready = isNew ? draft : isDraft(work);
  // If this run changed nothing, a person's decision that the pull request is ready stands.
  if (isUnready && !isNew && !hasPushed) return {};
  return { unreadySha: isUnready ? commit : null };
}

type IssueOfTask = Pick<TaskView, 'issueRepositoryId' | 'issueNumber'>;

function pullBody(
  app: App,
  work: Work,
  finish: FinishArguments,
  { issue, about }: { issue: IssueOfTask; about: EvidenceOf },
): string {
  const { task, repository, agent, unplanned = [], customs } = work;
  const prefix = app.config.COMMAND_PREFIX;
  const isHere = issue.issueRepositoryId === repository.id && issue.issueNumber !== null;
  const said = finish.body || finish.summary;
  const template = templateOf(customs.templates, said);
  const text = template === undefined ? said : filledTemplate(template, said);
  const own = [
    finish.nextSteps.length > 0
      ? `### Next steps\n${finish.nextSteps.map((s) => `- ${harmlessLine(s, 500, prefix)}`).join('\n')}`
      : '',
    revertsText(work),
    unplannedText(unplanned, prefix),
    evidenceSection(app, work, about),
    isHere ? `Closes #${issue.issueNumber}` : '',
    `---\n${work.reverts === undefined ? `Work of the agent **${harmlessLine(agent.name, 100, prefix)}**` : 'Undo'} on [${task.id}](${taskPage(app.config.BASE_URL, task.id)}). A person reviews and merges.`,
  ].filter((part) => part !== '');
  const parts = [
    harmlessText(text, template === undefined ? 30_000 : 40_000, prefix),
    ...(template === undefined ? own : [detailsOpening, ...own, detailsClosing]),
  ];
  return withoutCiSkips(parts.filter((part) => part !== '').join('\n\n'));
}

/** Below a template of the repository, our own part is folded. */
const [detailsOpening, detailsClosing] = ['<details><summary>Deckhand</summary>', '</details>'];

/** At most this many files that the plan does not name are listed. */
const maxUnplanned = 50;

function unplannedText(paths: string[], prefix: string): string {
  if (paths.length === 0) return '';
  const lines = paths.slice(0, maxUnplanned).map((path) => `- ${harmlessLine(path, 300, prefix)}`);
  const more = paths.length > maxUnplanned ? [`- and ${paths.length - maxUnplanned} more`] : [];
  return ['### Changed files that the plan does not name', ...lines, ...more].join('\n');
}

/** Names the pull requests of this repository that the change reverts. */
function revertsText({ reverts, task }: Work): string {
  if (reverts === undefined) return '';
  return `Reverts ${reverts.pulls.map(({ number }) => `#${number}`).join(', ')}${task.undoOf === null ? '' : ` of the task ${task.undoOf}`}.`;
}

const togetherTitle = '### Together with';

/** Adds links between all pull requests of a run. A pull request that already links the others is not edited. */
export async function linkPulls(app: App, work: Work): Promise<void> {
  const opened: { each: Work; pull: OpenedPull }[] = [];
  for (const each of allWorks(work)) {
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
      // Nothing that a person wrote is cut to make room for the links.
      if (body.length > maxBody) continue;
      await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at, body });
    }
    return {};
  };
  await work.journal.once('links', () => work.retrying(link));
}
