import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { changesIfFew } from '../../git/diff.ts';
import { type Checkout, GitFailed } from '../../git/engine.ts';
import { credentialFor, remoteFor } from '../../repositories/credentials.ts';
import { cloneInTurn, openCheckout } from '../../repositories/reader.ts';
import type { Collision, OwnPull, TriedPull } from '../../tasks/collisions/store.ts';

/** A pull request of a person, and whether its branch is in another repository. */
export interface ForeignPull extends TriedPull {
  taskId: null;
  isFork: boolean;
}

/** What may be tried. */
export type PullToTry = OwnPull | ForeignPull;

/** Time limit for one pull request and all others with which it is tried. What was found by then counts. */
const limitMs = 240_000;

/** The most that a head of a fork may add to a clone, in bytes. Nobody who may write has asked for it. */
const maxOfFork = 100_000_000;

/**
 * Merges a pull request with each of the others in a clone, as far as both change a file, and returns those where git finds
 * conflicts. One whose head has changed, or that cannot be fetched, is left out.
 */
export async function tryMerges(
  app: App,
  repository: RepositoryRow,
  subject: PullToTry,
  others: PullToTry[],
): Promise<Collision[]> {
  return cloneInTurn(app, repository.projectId, app.stopping, async () => {
    const late = AbortSignal.timeout(limitMs);
    const remote = await remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
    const { checkout, remove } = await openCheckout(app, remote, AbortSignal.any([app.stopping, late]));
    const found: Collision[] = [];
    try {
      for await (const collision of triedIn(checkout, subject, others)) found.push(collision);
    } catch (error) {
      if (!late.aborted) throw error;
      app.log.warn({ repositoryId: repository.id, pull: subject.url }, 'not all pull requests were tried together');
    } finally {
      await remove();
    }
    return found;
  });
}

async function* triedIn(checkout: Checkout, subject: PullToTry, others: PullToTry[]): AsyncGenerator<Collision> {
  const changesOf = pathsIn(checkout);
  const mine = await changesOf(subject);
  if (mine === undefined) return;
  for (const other of others) {
    const theirs = await changesOf(other);
    if (theirs === undefined || ![...theirs].some((path) => mine.has(path))) continue;
    const { conflicts } = await checkout.merge(subject.headSha, other.headSha);
    if (conflicts.length > 0) yield { other, files: conflicts };
  }
}

/** Returns a function that fetches a pull request and returns the paths that it changes; undefined if it is another now, or they are too many. */
function pathsIn(checkout: Checkout): (pull: PullToTry) => Promise<Set<string> | undefined> {
  const bases = new Map<string, string | undefined>();
  return async (pull) => {
    // The base comes first, so that the head adds only what is new.
    if (!bases.has(pull.baseBranch)) bases.set(pull.baseBranch, await checkout.fetch(pull.baseBranch));
    const base = bases.get(pull.baseBranch);
    const head = base && (await fetchHead(checkout, pull));
    if (base === undefined || head !== pull.headSha) return undefined;
    const from = await checkout.mergeBase(base, head);
    const changes = from && (await changesIfFew(checkout, from, head));
    return changes ? new Set(changes.map(({ path }) => path)) : undefined;
  };
}

async function fetchHead(checkout: Checkout, pull: PullToTry): Promise<string | undefined> {
  try {
    return 'isFork' in pull && pull.isFork
      ? await checkout.fetchPull?.(pull.number, maxOfFork)
      : await checkout.fetch(pull.headBranch);
  } catch (error) {
    // A name that git does not take, for example. Other faults would be the same for all.
    if (error instanceof GitFailed && error.fault === 'broken') return undefined;
    throw error;
  }
}
