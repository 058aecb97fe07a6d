import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { mayReveal } from '../../domain/settings.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { showMany } from '../../markdown/as-shown.ts';
import { type Marks, withoutCommands } from '../../markdown/commands.ts';
import { lastPage } from '../../outgoing/smaller-pages.ts';
import { findProject, upsertUser } from '../../projects/store.ts';
import { credentialFor, octokitFor } from '../../repositories/credentials.ts';
import { asWriter } from '../../repositories/permission.ts';
import { lackOfRight } from '../../repositories/rights.ts';
import { findRepository } from '../../repositories/store.ts';
import { type Voice, voicesOf } from '../../repositories/voices.ts';
import { listPullsIn } from '../../tasks/work-store.ts';
import type { AboutRun } from '../about-run.ts';

/** A comment as it is shown to the agent. */
export interface Comment {
  where: 'issue' | 'pull request';
  author: string;
  /**
   * Whether its author, and who edited it last, are directors of the run, with write permission in this repository and in
   * that of the task. Only then is it an instruction.
   */
  isByWriter: boolean;
  at: string;
  text: string;
}

/** The comments on one issue or pull request, oldest first. */
export interface Thread {
  comments: Comment[];
  /** Older comments exist that are left out. */
  isCut: boolean;
  /** How many are no instructions because GitHub does not say which person edited them last. */
  unattributed: number;
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
  node_id: string;
  user: { id: number; login: string; type: string } | null;
  created_at: string;
  body?: string;
}

/**
 * Finds the issue of a task, and in later runs its open pull request. An issue in a private repository is left out when
 * the result of the run is public, unless the project shares private context, and when a director of the run may not write in that
 * repository. `onRefused` gets why. Otherwise the run counts as having opened it.
 */
export async function placesOf(app: App, work: AboutRun, onRefused: (why: string) => Promise<void>): Promise<Place[]> {
  const { task, run, repository } = work;
  const issue = await placeOfIssue(app, work, onRefused);
  const [pull] = run.kind === 'start' ? [] : await listPullsIn(app.db.manager, task.id, repository.id);
  const isOpen = pull?.status === 'open' || pull?.status === 'draft';
  return [
    ...(issue === undefined ? [] : [issue]),
    ...(isOpen ? [{ where: 'pull request', repository, number: pull.number } as const] : []),
  ];
}

async function placeOfIssue(
  app: App,
  { task, repository: own, enter }: AboutRun,
  onRefused: (why: string) => Promise<void>,
): Promise<Place | undefined> {
  const { issueRepositoryId, issueNumber: number } = task;
  if (issueRepositoryId === null || number === null) return undefined;
  const repository = await findRepository(app.db.manager, issueRepositoryId);
  if (repository === null || !mayReveal(repository, own, await findProject(app.db.manager, task.projectId)))
    return undefined;
  const problem = repository.isPrivate && repository.id !== own.id ? await enter(repository) : undefined;
  if (problem === undefined) return { where: 'issue', repository, number };
  await onRefused(problem.message);
  return undefined;
}

/** Reads the newest comments on an issue or pull request. Authors of instructions become directors of the run. */
export async function readThread(app: App, { where, repository, number }: Place, work: AboutRun): Promise<Thread> {
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none' || credential.owner === '') return { comments: [], isCut: false, unattributed: 0 };
  const octokit = await octokitFor(app, credential);
  const bot = await app.github?.bot().catch(() => undefined);
  const { owner, repo } = credential;
  const { admit } = work;
  const reader = { where, botId: bot?.id, commandPrefix: app.config.COMMAND_PREFIX, admit };
  const mayDirect = (person: Voice) => mayWriteWhereItWorks(app, person, work.repository);
  const elsewhere = repository.id === work.repository.id ? undefined : mayDirect;
  return commentsOf(octokit, { owner, repo, issue_number: number }, { ...reader, elsewhere });
}

/**
 * Returns whether somebody may write to the repository of a task. Where GitHub cannot be asked about people, their role in
 * the project counts. Without an answer, nobody may.
 */
async function mayWriteWhereItWorks(app: App, person: Voice, repository: RepositoryRow): Promise<boolean> {
  try {
    const { id } = await upsertUser(app.db.manager, person);
    return (await lackOfRight(app, [id], repository, 'write')) === undefined;
  } catch (error) {
    app.log.warn(
      { err: error, repositoryId: repository.id },
      'GitHub could not be asked who may write where a task works',
    );
    return false;
  }
}

interface Reader {
  where: Comment['where'];
  botId: number | undefined;
  commandPrefix: string;
  /** Returns whether somebody may write to the repository of the task, if that is another one. */
  elsewhere?: ((person: Voice) => Promise<boolean>) | undefined;
  /** Makes people directors of the run. Returns the ids of those who may be. */
  admit(people: Voice[]): Promise<Set<number>>;
}

// An interface would not fit Octokit's parameters, which may have any key.
type At = RepoName & { issue_number: number };

/**
 * Reads the newest comments of people. Those of bots, the service's own included, and those that somebody has hidden on GitHub are left
 * out, and so are commands to the service with their texts.
 */
export async function commentsOf(
  octokit: Octokit,
  at: At,
  { where, botId, commandPrefix, elsewhere, admit }: Reader,
): Promise<Thread> {
  const { found, isCut } = await newest(octokit, at);
  const marks = { prefix: commandPrefix, slug: undefined };
  const ofPeople = found.filter(({ user }) => !isBot(user, botId));
  // Without an answer of GitHub, nobody's rights count. People want the run to go on, so it does not wait for one.
  const nothingKnown = { voices: new Map<GitHubComment, Voice[]>(), hidden: new Set<GitHubComment>() };
  const { voices, hidden } = await voicesOf(octokit, ofPeople).catch(() => nothingKnown);
  const kept = await fitting(
    ofPeople.filter((comment) => !hidden.has(comment)),
    marks,
  );
  const voicesIn = kept.comments.toReversed().flatMap(({ comment }) => voices.get(comment) ?? []);
  const people = new Map(voicesIn.map((voice) => [voice.id, voice]));
  const asWriterHere = async (person: Voice) => {
    const writer = await asWriter(octokit, { owner: at.owner, repo: at.repo }, person).catch(() => undefined);
    return writer !== undefined && ((await elsewhere?.(writer)) ?? true) ? writer : undefined;
  };
  const writers = await writersAmong([...people.values()], asWriterHere);
  const mayAll = (known: { has(id: number): boolean }, comment: Fitting) =>
    voices.get(comment.comment)?.every(({ id }) => known.has(id)) ?? false;
  const written = kept.comments.filter((each) => mayAll(writers, each));
  const said = new Set(written.flatMap(({ comment }) => voices.get(comment) ?? []).map(({ id }) => id));
  const admitted = await admit([...writers.values()].filter(({ id }) => said.has(id)));
  const comments = kept.comments.map((each) => ({
    where,
    author: each.comment.user?.login ?? 'a deleted account',
    isByWriter: mayAll(admitted, each),
    at: each.comment.created_at,
    text: each.text,
  }));
  const unattributed = kept.comments.filter(({ comment }) => comment.user !== null && !voices.has(comment)).length;
  return { comments, isCut: isCut || kept.isCut, unattributed };
}

function isBot(user: GitHubComment['user'], ownId: number | undefined): boolean {
  return user !== null && (user.type === 'Bot' || user.login.endsWith('[bot]') || user.id === ownId);
}

/**
 * Reads the last one or two pages of comments. GitHub lists those of an issue only with the oldest first.
 */
async function newest(octokit: Octokit, at: At): Promise<{ found: GitHubComment[]; isCut: boolean }> {
  const read = (page: number) =>
    octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...at, per_page: pageSize, page });
  const first = await read(1);
  const last = lastPage(first.headers);
  const before = last > 2 ? await read(last - 1) : first;
  const pages = last > 1 ? [before, await read(last)] : [first];
  return { found: pages.flatMap(({ data }) => data as GitHubComment[]), isCut: last > 2 };
}

interface Fitting {
  comment: GitHubComment;
  text: string;
}

async function fitting(found: GitHubComment[], marks: Marks): Promise<{ comments: Fitting[]; isCut: boolean }> {
  const comments: Fitting[] = [];
  let chars = 0;
  const show = showMany();
  for (const comment of found.toReversed()) {
    const text = cut(withoutCommands(await show(comment.body ?? ''), marks).trim());
    if (text === '') continue;
    chars += text.length;
    if (comments.length === maxComments || chars > maxChars) return { comments: comments.reverse(), isCut: true };
    comments.push({ comment, text });
  }
  return { comments: comments.reverse(), isCut: false };
}

function cut(text: string): string {
  if (text.length <= maxCommentChars) return text;
  return `${text.slice(0, maxCommentChars)}\n[… ${text.length - maxCommentChars} characters of this comment cut …]`;
}

/** Returns those who may write, by their ids. */
async function writersAmong(
  people: Voice[],
  asWriterHere: (person: Voice) => Promise<Voice | undefined>,
): Promise<Map<number, Voice>> {
  const writers = new Map<number, Voice>();
  const end = performance.now() + lookUpMs;
  for (const person of people.slice(0, maxPeople)) {
    if (performance.now() > end) break;
    const writer = await asWriterHere(person);
    if (writer !== undefined) writers.set(person.id, writer);
  }
  return writers;
}
