import type { Answered, App } from '../../app.ts';
import { lockUntilCommit } from '../../db/locks.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { credentialFor, octokitFor } from '../../repositories/credentials.ts';
import { findRepository } from '../../repositories/store.ts';
import {
  type Collision,
  deleteCollisions,
  findOwnPull,
  holdPulls,
  insertCollision,
  isOfTask,
  listOwnPulls,
  type TriedPull,
} from '../../tasks/collisions/store.ts';
import { type ForeignPull, type PullToTry, tryMerges } from './try-merges.ts';

/** At most this many pull requests are tried together with one, those that changed last. */
const maxOthers = 20;

/** A pull request, ours or that of a person. */
interface PullKey {
  repositoryId: string;
  number: number;
}

/**
 * Finds out with which other open pull requests of its repository a pull request collides, and stores that in place of what
 * was known. That of a task is tried with those of other tasks and of people, that of a person with those of tasks.
 */
export async function findCollisions(app: App, at: PullKey): Promise<void> {
  const repository = await findRepository(app.db.manager, at.repositoryId);
  if (repository === null) return;
  const subject = await findSubject(app, repository, at);
  const found = subject === undefined ? [] : await collisionsOf(app, repository, subject);
  await app.db.transaction(async (em) => {
    await holdPulls(em, repository.id, [at.number, ...found.map(({ other }) => other.number)]);
    await lockUntilCommit(em, 'collisions', repository.id);
    await deleteCollisions(em, at);
    if (subject === undefined) return;
    for (const { other, files } of found) {
      if (subject.taskId !== null) await insertCollision(em, repository.id, subject, { other, files });
      if (other.taskId !== null) await insertCollision(em, repository.id, other, { other: subject, files });
    }
  });
}

/** Returns the open pull request; undefined if it is settled. */
async function findSubject(app: App, repository: RepositoryRow, at: PullKey): Promise<PullToTry | undefined> {
  const own = await findOwnPull(app.db.manager, at);
  if (own !== undefined) return own;
  // Nobody has to be asked about a settled one of ours, or where nothing can collide.
  if (await isOfTask(app.db.manager, at)) return undefined;
  const hasOwn = (await listOwnPulls(app.db.manager, repository.id, 1)).length > 0;
  return hasOwn ? readForeign(app, repository, at.number) : undefined;
}

type Listed = Answered<'GET /repos/{owner}/{repo}/pulls'>[number];

function foreign({
  number,
  html_url,
  title,
  user,
  head,
  base,
}: Pick<Listed, 'number' | 'html_url' | 'title' | 'user' | 'head' | 'base'>): ForeignPull {
  return {
    ...{ number, taskId: null, url: html_url, title: oneLine(title, 200), headSha: head.sha },
    ...{ headBranch: head.ref, baseBranch: base.ref, author: user === null ? null : oneLine(user.login, 40) },
    isFork: Number(head.repo?.id ?? 0) !== Number(base.repo.id),
  };
}

async function readForeign(app: App, repository: RepositoryRow, number: number): Promise<ForeignPull | undefined> {
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none' || credential.owner === '') return undefined;
  const { owner, repo } = credential;
  const octokit = await octokitFor(app, credential);
  const path = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  try {
    const { data } = await octokit.request(path, { owner, repo, pull_number: number });
    return data.state === 'open' ? foreign(data) : undefined;
  } catch (error) {
    if (isRefusedWith(error, 404)) return undefined;
    throw error;
  }
}

/** Returns the open pull requests of people in a repository, those that changed last first. */
async function listForeign(app: App, repository: RepositoryRow): Promise<ForeignPull[]> {
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none' || credential.owner === '') return [];
  const { owner, repo } = credential;
  const { data } = await (await octokitFor(app, credential)).request('GET /repos/{owner}/{repo}/pulls', {
    ...{ owner, repo, state: 'open', sort: 'updated', direction: 'desc' },
    per_page: 2 * maxOthers,
  });
  return data.map(foreign);
}

async function collisionsOf(app: App, repository: RepositoryRow, subject: PullToTry): Promise<Collision[]> {
  const isOther = ({ number }: TriedPull) => number !== subject.number;
  const own = (await listOwnPulls(app.db.manager, repository.id, 2 * maxOthers)).filter(isOther);
  const known = new Set(own.map(({ number }) => number));
  const people =
    subject.taskId === null
      ? []
      : (await listForeign(app, repository)).filter((pull) => isOther(pull) && !known.has(pull.number));
  const others = shared(own, people)
    .filter((other) => mayCollide(subject, other))
    .slice(0, maxOthers);
  return others.length === 0 ? [] : tryMerges(app, repository, subject, others);
}

/** Takes pull requests of tasks and of people in turn, so that many of one kind do not leave out the other. */
function shared(own: PullToTry[], people: PullToTry[]): PullToTry[] {
  const length = Math.max(own.length, people.length);
  return Array.from({ length }, (_, i) => [own[i] ?? [], people[i] ?? []].flat()).flat();
}

/** A pull request in a stack contains the one below it. Files that are known not to be the same need no attempt. */
function mayCollide(one: PullToTry, other: PullToTry): boolean {
  if (one.headBranch === other.baseBranch || one.baseBranch === other.headBranch) return false;
  const [mine, theirs] = [pathsOf(one), pathsOf(other)];
  if (mine === null || theirs === null) return true;
  const all = new Set(mine);
  return theirs.some((path) => all.has(path));
}

const pathsOf = (pull: PullToTry): string[] | null => ('paths' in pull ? pull.paths : null);
