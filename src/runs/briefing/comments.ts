import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { mayReveal } from '../../domain/private-content.ts';
import { plain } from '../../domain/text/sanitize.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { findProject } from '../../projects/store.ts';
import { credentialFor, octokitFor } from '../../repositories/credentials.ts';
import { asWriter } from '../../repositories/permission.ts';
import { findRepository } from '../../repositories/store.ts';
import { listPullsIn } from '../../tasks/work-store.ts';
import type { Work } from '../work.ts';

/** A comment as it is shown to the agent. */
export interface Comment {
  where: 'issue' | 'pull request';
  author: string;
  /** Whether the author may write to this repository and to that of the task. Only then is it an instruction. */
  isByWriter: boolean;
  at: string;
  text: string;
}

/** The comments on one issue or pull request, oldest first. */
export interface Thread {
  comments: Comment[];
  /** Older comments exist that are left out. */
  isCut: boolean;
}

/** An issue or pull request whose comments belong to the assignment. */
interface Place {
  where: Comment['where'];
  repository: RepositoryRow;
  number: number;
}

/** The newest comments are kept, up to this many, and up to this many characters together. */
const maxComments = 50;
const maxChars = 40_000;
const maxCommentChars = 4000;
const pageSize = 50;

/** Permissions are looked up for this many people, those with the newest comments first, and for this long. */
const maxPeople = 20;
const lookUpMs = 30_000;

interface GitHubComment {
  id: number;
  user: { id: number; login: string; type: string } | null;
  created_at: string;
  body?: string;
}

/**
 * Finds the issue of a task, and in later runs its open pull request. An issue in a private repository is left out when
 * the result of the run is public, unless the project shares private context.
 */
export async function placesOf(app: App, { task, run, repository }: Work): Promise<Place[]> {
  const em = app.db.manager;
  const places: Place[] = [];
  const ofIssue = task.issueRepositoryId === null ? null : await findRepository(em, task.issueRepositoryId);
  if (ofIssue !== null && task.issueNumber !== null) {
    const project = await findProject(em, task.projectId);
    if (mayReveal(ofIssue, repository, project))
      places.push({ where: 'issue', repository: ofIssue, number: task.issueNumber });
  }
  const [pull] = run.kind === 'start' ? [] : await listPullsIn(em, task.id, repository.id);
  if (pull?.status === 'open' || pull?.status === 'draft')
    places.push({ where: 'pull request', repository, number: pull.number });
  return places;
}

/** Reads the newest comments on an issue or pull request. */
export async function readThread(app: App, { where, repository, number }: Place, work: Work): Promise<Thread> {
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none' || credential.owner === '') return { comments: [], isCut: false };
  const octokit = await octokitFor(app, credential);
  const bot = await app.github?.bot().catch(() => undefined);
  const { owner, repo } = credential;
  const reader = { where, botId: bot?.id, commandPrefix: app.config.COMMAND_PREFIX };
  const elsewhere = repository.id === work.repository.id ? undefined : await placeOfWork(app, work);
  return commentsOf(octokit, { owner, repo, issue_number: number }, { ...reader, elsewhere });
}

/** Returns where the task works, if GitHub can be asked about permissions there. */
async function placeOfWork(app: App, { credential }: Work): Promise<Elsewhere | undefined> {
  if (credential.kind !== 'installation') return undefined;
  return { octokit: await octokitFor(app, credential), name: { owner: credential.owner, repo: credential.repo } };
}

/** Another repository in which authors need write permission. */
interface Elsewhere {
  octokit: Octokit;
  name: RepoName;
}

interface Reader {
  where: Comment['where'];
  botId: number | undefined;
  commandPrefix: string;
  elsewhere?: Elsewhere | undefined;
}

// An interface would not fit Octokit's parameters, which may have any key.
type At = RepoName & { issue_number: number };

/**
 * Reads the newest comments of people. Those of bots, the service's own included, are left out, and so are those that
 * contain nothing but commands to the service.
 */
export async function commentsOf(
  octokit: Octokit,
  at: At,
  { where, botId, commandPrefix, elsewhere }: Reader,
): Promise<Thread> {
  const { found, isCut } = await newest(octokit, at);
  const kept = fitting(found.filter(({ user, body }) => !isBot(user, botId) && !isCommand(body ?? '', commandPrefix)));
  const own = { octokit, name: { owner: at.owner, repo: at.repo } };
  const writers = await writersAmong(elsewhere === undefined ? [own] : [own, elsewhere], kept.comments);
  const comments = kept.comments.map(({ user, created_at, text }) => ({
    where,
    author: user?.login ?? 'a deleted account',
    isByWriter: user !== null && writers.has(user.id),
    at: created_at,
    text,
  }));
  return { comments, isCut: isCut || kept.isCut };
}

function isBot(user: GitHubComment['user'], ownId: number | undefined): boolean {
  return user !== null && (user.type === 'Bot' || user.login.endsWith('[bot]') || user.id === ownId);
}

function isCommand(body: string, prefix: string): boolean {
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  return lines.every((line) => line.toLowerCase().startsWith(`${prefix.toLowerCase()} `));
}

/**
 * Reads the last one or two pages of comments. GitHub lists those of an issue only with the oldest first, and names the
 * last page in the `Link` header of the first one.
 */
async function newest(octokit: Octokit, at: At): Promise<{ found: GitHubComment[]; isCut: boolean }> {
  const read = (page: number) =>
    octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...at, per_page: pageSize, page });
  const first = await read(1);
  const last = Number(/[?&]page=(\d+)[^>]*>; *rel="last"/.exec(first.headers.link ?? '')?.[1] ?? 1);
  const before = last > 2 ? await read(last - 1) : first;
  const pages = last > 1 ? [before, await read(last)] : [first];
  return { found: pages.flatMap(({ data }) => data as GitHubComment[]), isCut: last > 2 };
}

type Fitting = GitHubComment & { text: string };

function fitting(found: GitHubComment[]): { comments: Fitting[]; isCut: boolean } {
  const comments: Fitting[] = [];
  let chars = 0;
  for (const each of found.toReversed()) {
    const text = cut(plain(each.body ?? '').trim());
    if (text === '') continue;
    chars += text.length;
    if (comments.length === maxComments || chars > maxChars) return { comments: comments.reverse(), isCut: true };
    comments.push({ ...each, text });
  }
  return { comments: comments.reverse(), isCut: false };
}

function cut(text: string): string {
  if (text.length <= maxCommentChars) return text;
  return `${text.slice(0, maxCommentChars)}\n[… ${text.length - maxCommentChars} characters of this comment cut …]`;
}

/** Returns the ids of the authors who may write to all of these repositories. Unknown permissions count as none. */
async function writersAmong(places: Elsewhere[], comments: Fitting[]) {
  const people = new Map(comments.toReversed().flatMap(({ user }) => (user === null ? [] : [[user.id, user]])));
  const writers = new Set<number>();
  const end = performance.now() + lookUpMs;
  for (const person of [...people.values()].slice(0, maxPeople)) {
    if (performance.now() > end) break;
    const rights = places.map(({ octokit, name }) => asWriter(octokit, name, person).catch(() => undefined));
    if ((await Promise.all(rights)).every((writer) => writer !== undefined)) writers.add(person.id);
  }
  return writers;
}
