import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { lockUntilCommit } from '../../db/locks.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { liveStatuses } from '../../domain/run.ts';
import { isBeingPublished } from '../journal.ts';
import { insertHidden } from '../reviewing/ask.ts';
import { findTaskOfPull, findTaskOfReviewed } from '../reviewing/store.ts';
import { showHeadAgain } from './ask-proof.ts';
import { askAgain, hasProofsOfHead, markUnproved, outdateProof } from './outdated-proofs.ts';
import {
  findPullProof,
  isLatestProof,
  markLatestProof,
  type PullProof,
  upsertPullProof,
  wasRequired,
} from './pull-proofs.ts';

/** What the event of a pull request says of it. */
export interface SeenPull {
  number: number;
  headSha: string;
  base: string;
  author: string | null;
  /** GitHub's number of its author; undefined where that is not known. */
  authorId?: number | undefined;
  url: string;
  /** Whether it may be that of somebody who may not write here. */
  isForeign: boolean;
}

/**
 * Stores that a pull request has a head about which a proof exists, and updates the head's check run. It does not ask GitHub: the event
 * may have to wait for the next hour of GitHub's limit, and until then the check run must not allow a merge because of a proof for another
 * branch. Pull requests of tasks have no such rows; their check runs follow what is stored about the task.
 */
export async function holdJudged(app: App, repository: RepositoryRow, pull: SeenPull): Promise<void> {
  const em = app.db.manager;
  const head = { repositoryId: repository.id, headSha: pull.headSha };
  if (!(await hasProofsOfHead(em, head))) return;
  const act = (await wasRequired(em, repository.id)) ? hold : holdRetargeted;
  if (await isOrBecomesOwn(app, repository, pull)) return showHeadAgain(app, head);
  await app.db.transaction(async (inside) => {
    await lockUntilCommit(inside, 'reviews', repository.id);
    const known = await findPullProof(inside, { ...head, number: pull.number }, pull.headSha);
    if (await act(app, inside, { repository, pull, known }))
      await showHeadAgain(app, head, inside, isRepeated(known) ? repeatedSeconds : undefined);
  });
}

/** A stranger may change the branch of a pull request many times a minute, and each look asks GitHub about it. */
const repeatedSeconds = 60;

const isRepeated = (known: PullProof | undefined) =>
  known?.isForeign === true && Date.now() - known.createdAt.getTime() < repeatedSeconds * 1000;

/** Whether a task of the project has a pull request, or a run is about to store that. */
async function isOrBecomesOwn(
  app: App,
  { id }: RepositoryRow,
  { number, headSha, authorId }: SeenPull,
): Promise<boolean> {
  const em = app.db.manager;
  if ((await findTaskOfPull(em, id, number)) !== undefined) return true;
  const bot = await app.github?.bot();
  return bot !== undefined && authorId === bot.id && (await isBeingPublished(em, headSha, id));
}

interface Told {
  repository: RepositoryRow;
  pull: SeenPull;
  known: PullProof | undefined;
}

/** Returns whether the pull request says something else of its head now. */
async function hold(app: App, em: EntityManager, { repository, pull, known }: Told): Promise<boolean> {
  const { number, headSha, base, author, url, isForeign } = pull;
  const at = { repositoryId: repository.id, number };
  if (known?.base === base && isPending(known)) {
    if (await isLatestProof(em, known.id)) return false;
    await markLatestProof(em, known.id, { isRequired: true });
    return true;
  }
  if (known !== undefined && known.status !== null) {
    const mayCount = known.base !== base && !known.isOutdated;
    if (!mayCount && known.isRequired && (await isLatestProof(em, known.id))) return false;
    // While it had another head, its base branch may have taken in commits of this one.
    if (!known.isOutdated) await outdateProof(em, at, askAgain);
    await markLatestProof(em, known.id, { isRequired: true });
    return true;
  }
  if ((await findTaskOfReviewed(em, at, 'proof')) === undefined)
    await insertHidden(app, em, { repository, number }, 'proof', url);
  const asked = {
    runId: null,
    hold: isForeign ? ('writer' as const) : null,
    isRequired: true,
    minutesPerDay: null,
    rules: null,
  };
  await upsertPullProof(em, { ...at, ...asked, isForeign, headSha, base, author });
  if (!isForeign) await markUnproved(em, at, headSha);
  return true;
}

/** Where nothing is required, what was found out is taken back when it is about another branch now. */
async function holdRetargeted(_app: App, em: EntityManager, { repository, pull, known }: Told): Promise<boolean> {
  if (known === undefined || known.status === null || known.isOutdated || known.base === pull.base) return false;
  await outdateProof(em, { repositoryId: repository.id, number: pull.number }, askAgain);
  return true;
}

/** Whether a head waits for something or is being tried, so that its check run is not a success. */
const isPending = ({ hold, isRequired, runStatus }: PullProof) =>
  (hold !== null && isRequired) || (runStatus !== null && liveStatuses.includes(runStatus));
