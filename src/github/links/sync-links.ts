import type { App } from '../../app.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import type { GitHubUser } from '../../projects/store.ts';
import { findTask, type TaskView } from '../../tasks/store.ts';
import { httpStatusOf, type Place, placeOfRepository } from '../app/place.ts';
import { eachThenFail } from '../each-apart.ts';
import { isTripped, noteWrite } from '../issues/limit-writes.ts';
import { readIssue } from '../issues/read-issue.ts';
import { listMirrored } from '../store.ts';
import {
  findLinkable,
  forgetLink,
  type IssueKey,
  type KnownLink,
  keepLink,
  type Link,
  type LinkedTask,
  type LinkKind,
  linkKinds,
  listKnown,
  listLinked,
} from './link-store.ts';
import { findChangers, placeOfOther, readLinks } from './read-links.ts';
import { takeLink } from './take-link.ts';

/** What an event says about a link of the task. */
export interface ToldLink {
  kind: LinkKind;
  otherId: string;
  change: 'added' | 'removed';
  sender: GitHubUser;
}

interface Asked {
  /** Reads what GitHub shows although nothing has changed here. */
  recheck: boolean;
  told?: ToldLink | undefined;
}

/**
 * Makes the links of a task's issue, which are sub-issues and dependencies, and those of the task equal. Call it with the lock
 * `mirror <task>`, so that one call about a task runs at a time.
 *
 * What both sides had when they last agreed tells who has changed something: a link that only GitHub has was added there
 * if it was not agreed, and removed here if it was. What changed here is written to GitHub. What changed there is taken
 * over if a person with write permission did it. What our own bot did there never is: a job may have been killed before
 * it stored that both sides agree.
 */
export async function syncLinks(app: App, task: TaskView, { recheck, told }: Asked): Promise<void> {
  if (task.issueNumber === null || task.issueRepositoryId === null) return;
  const em = app.db.manager;
  const ours = await listLinked(em, task.id);
  const known = await listKnown(em, task.id);
  const due = linkKinds.filter((kind) => recheck || differ(ours, known, kind));
  if (due.length === 0) return;
  const place = await placeOfRepository(app, task.issueRepositoryId);
  if (place === undefined || place.repository.isArchived) return;
  const at = { task, place, number: task.issueNumber };
  await eachThenFail(due, async (kind) => {
    const seen = await readLinks(app, place, at.number, kind);
    if (seen === undefined) return;
    const theirs = await withTasks(app, at, kind, seen);
    const of = <T extends { kind: LinkKind }>(all: T[]) => all.filter((each) => each.kind === kind);
    const links = pairUp(of(ours), theirs, of(known));
    await eachThenFail(links, (link) => syncLink(app, at, link, told?.otherId === link.otherId ? told : undefined));
  });
}

/** Returns whether links here are not those that both sides agreed on, apart from those that have to wait. */
function differ(ours: LinkedTask[], known: KnownLink[], kind: LinkKind): boolean {
  const here = new Set(ours.filter((each) => each.kind === kind).map(({ otherId }) => otherId));
  const before = known.filter((each) => each.kind === kind);
  const wanted = new Set(before.filter(({ isAgreed, problem }) => isAgreed || problem !== null).map((k) => k.otherId));
  const isNew = [...here].some((id) => !wanted.has(id));
  return isNew || before.some(({ otherId, isAgreed, problem }) => isAgreed && problem === null && !here.has(otherId));
}

/** The task that owns links, and its issue. */
interface At {
  task: TaskView;
  place: Place;
  number: number;
}

type SeenTask = LinkedTask & { id: number };

async function withTasks(
  app: App,
  { task }: At,
  kind: LinkKind,
  seen: (IssueKey & { id: number })[],
): Promise<SeenTask[]> {
  const tasks = await findLinkable(app.db.manager, task.id, seen);
  return tasks.flatMap(({ id: otherId, repositoryId, number }) => {
    const issue = seen.find((each) => each.repositoryId === repositoryId && each.number === number);
    return issue === undefined ? [] : [{ kind, otherId, repositoryId, number, id: issue.id }];
  });
}

function pairUp(ours: LinkedTask[], theirs: SeenTask[], known: KnownLink[]): Link[] {
  const all = new Map<string, LinkedTask>([...theirs, ...ours].map((each) => [each.otherId, each]));
  const ids = new Set([...all.keys(), ...known.map(({ otherId }) => otherId)]);
  return [...ids].map((otherId) => {
    const before = known.find((each) => each.otherId === otherId);
    // What neither side has any more is forgotten, and its issue is not needed for that.
    const issue = all.get(otherId) ?? { kind: before?.kind ?? 'subtask', otherId, repositoryId: '', number: 0 };
    return {
      ...issue,
      isHere: ours.some((each) => each.otherId === otherId),
      seenId: theirs.find((each) => each.otherId === otherId)?.id,
      before,
    };
  });
}

async function syncLink(app: App, at: At, link: Link, told: ToldLink | undefined): Promise<void> {
  const em = app.db.manager;
  const { isHere, seenId, before } = link;
  const isThere = seenId !== undefined;
  if (isHere === isThere) {
    if (!isHere) return before && forgetLink(em, at.task.id, link);
    if (before?.isAgreed !== true || before.problem !== null)
      await keepLink(em, at.task.id, { ...link, isAgreed: true });
    return;
  }
  if (before?.problem != null && !before.isDue && told === undefined) return;
  const isAgreed = before?.isAgreed ?? false;
  // What only one side has was added there, or removed on the other side.
  if (isHere !== isAgreed) return write(app, at, link, isHere);
  const change = isThere ? 'added' : 'removed';
  const people = await changersOf(app, at, link, change, told);
  const bot = await app.github?.bot();
  const others = people.filter(({ id }) => id !== bot?.id);
  if (others.length > 0) return takeLink(app, at, link, change, others);
  if (people.length > 0) await write(app, at, link, isHere);
}

/**
 * Returns who may have changed a link. The events of the issue say it exactly for a subtask. For a dependency they do not
 * name the other issue, and the webhook does.
 */
async function changersOf(
  app: App,
  { place, number }: At,
  link: Link,
  change: 'added' | 'removed',
  told: ToldLink | undefined,
): Promise<GitHubUser[]> {
  const sender = told?.change === change ? [told.sender] : [];
  if (link.kind === 'dependency' && sender.length > 0) return sender;
  const people = await findChangers(app, place, number, link, change);
  return people.length > 0 ? people : sender;
}

/** Minutes until a link that GitHub has refused is tried again. */
const refusedMinutes = 24 * 60;

/** Adds a link on GitHub, or removes it there. If GitHub refuses that, the timeline of the task says so once. */
async function write(app: App, at: At, link: Link, isHere: boolean): Promise<void> {
  const { task, place, number } = at;
  const em = app.db.manager;
  const all = await listMirrored(em, task.id);
  const mirrored = all.find((each) => each.repositoryId === place.repository.id && each.number === number);
  if (mirrored === undefined || isTripped(mirrored)) return;
  const otherId = isHere ? await idOnGitHub(app, link) : link.seenId;
  if (otherId === undefined) return;
  try {
    await (isHere ? add : remove)(at, link.kind, otherId);
    await (isHere ? keepLink(em, task.id, { ...link, isAgreed: true }) : forgetLink(em, task.id, link));
  } catch (error) {
    if (!isRefusedWith(error, 400, 403, 404, 410, 422)) throw error;
    await noteRefusal(app, task, link, error);
  }
  await noteWrite(app, em, mirrored);
}

async function idOnGitHub(app: App, link: Link): Promise<number | undefined> {
  const other = await placeOfOther(app, link);
  const issue = other && (await readIssue(other.place, other.number));
  return issue === undefined || typeof issue === 'string' ? undefined : Number(issue.id);
}

async function add({ place: { octokit, name }, number }: At, kind: LinkKind, id: number): Promise<void> {
  const at = { ...name, issue_number: number };
  if (kind === 'subtask')
    await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/sub_issues', { ...at, sub_issue_id: id });
  else
    await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/dependencies/blocked_by', {
      ...at,
      issue_id: id,
    });
}

async function remove({ place: { octokit, name }, number }: At, kind: LinkKind, id: number): Promise<void> {
  const at = { ...name, issue_number: number };
  if (kind === 'subtask')
    await octokit.request('DELETE /repos/{owner}/{repo}/issues/{issue_number}/sub_issue', { ...at, sub_issue_id: id });
  else
    await octokit.request('DELETE /repos/{owner}/{repo}/issues/{issue_number}/dependencies/blocked_by/{issue_id}', {
      ...at,
      issue_id: id,
    });
}

async function noteRefusal(app: App, task: TaskView, link: Link, error: unknown): Promise<void> {
  const said = `GitHub answered with status ${httpStatusOf(error)}: ${oneLine((error as Error).message, 150)}`;
  const what = link.kind === 'subtask' ? 'Sub-issue' : 'Dependency on issue';
  const text = `${what} ${link.number}: ${said}`;
  app.log.info({ err: error, taskId: task.id, otherId: link.otherId }, 'GitHub refused to link issues');
  const isAgreed = link.before?.isAgreed ?? false;
  await app.db.transaction(async (em) => {
    await keepLink(em, task.id, { ...link, isAgreed }, { text, againMinutes: refusedMinutes });
    if (link.before?.problem === text) return;
    const { id: taskId, projectId } = task;
    await app.audit.noteEvent(em, { taskId, projectId, event: 'link_refused', changes: { refusal: [null, text] } });
  });
}

/** Compares the links of a task with GitHub after an event about them, or because an event may have been lost. */
export async function compareLinks(app: App, taskId: string, told?: ToldLink): Promise<void> {
  await app.db.withLock(`mirror ${taskId}`, async () => {
    const task = await findTask(app.db.manager, taskId);
    if (task !== undefined) await syncLinks(app, task, { recheck: true, told });
  });
}
