import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { RunRow } from '../../db/tables/run.ts';
import { notRun } from '../../domain/proof/proof.ts';
import { type Failure, RunFailed } from '../../domain/run.ts';
import { noSettings } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { concludeRun, type Journal, stepOf } from '../../runs/journal.ts';
import { rulesIn } from '../../runs/pull-proofs/ask-proof.ts';
import { followBaseFrom, storeCommits } from '../../runs/pull-proofs/outdated-proofs.ts';
import { findProofOfRun, holdForMinutes, minutesToday, storeJudged } from '../../runs/pull-proofs/pull-proofs.ts';
import { findAsk, type PullAsk } from '../../runs/reviewing/store.ts';
import { queueMirror, tryMoveTask } from '../../tasks/move.ts';
import { readElapsedMs } from '../lease/run-clock.ts';
import type { Shared } from '../open-work.ts';
import { type Proved, proveChange } from '../proof/prove.ts';
import type { Work } from '../work.ts';
import { clearBase } from '../workspace/base-of-change.ts';
import { type Known, knownStep, lookUpProof } from './known-proof.ts';
import { notesFor } from './proof-notes.ts';
import { whyNotTried } from './try-checks.ts';

/**
 * Begins the proof of a pull request: lets its check run show that it is tried. Returns false if it ends here, because the
 * repository has used up its minutes of the day.
 */
export async function beginProof(app: App, run: RunRow, journal: Journal): Promise<boolean> {
  const proof = await findProofOfRun(app.db.manager, run.id);
  if (proof === undefined) throw new RunFailed('internal', 'nobody knows which commit this run proves');
  const { isLeft } = await journal.once('proof begun', async () => {
    const { repositoryId, minutesPerDay } = proof;
    const used = minutesPerDay === null ? 0 : await minutesToday(app.db.manager, repositoryId, run.id);
    return { isLeft: minutesPerDay === null || used < minutesPerDay };
  });
  await journal.write(async (em) => {
    if (isLeft) return queueMirror(app, em, run.taskId);
    await holdForMinutes(em, run.id);
    await tryMoveTask(app, em, run.taskId, 'cancel');
    await concludeRun(app, em, run, 'cancelled');
  });
  return isLeft;
}

/** Returns how the environment of such a run is opened: only if something has to be tried. */
export function openingOfProof(app: App, run: RunRow, shared: Shared): Shared {
  return {
    ...shared,
    needsSetup: async (checkout, placed) => {
      const em = app.db.manager;
      const about = { ask: await askOf(em, run), isAsked: run.startedBy !== null, ...shared };
      const { changesTests, proved } = await lookUpProof(em, { checkout, placed }, about);
      return changesTests && proved === undefined && placed.settings.checks.length > 0;
    },
  };
}

async function askOf(em: EntityManager, run: RunRow): Promise<PullAsk> {
  const ask = await findAsk(em, run.id);
  if (ask !== undefined) return ask;
  throw new RunFailed('internal', 'nobody knows which pull request this run proves');
}

/**
 * Finds out what the tests of a pull request prove, for its check run. What was found out about the same files counts, and
 * without changed tests nothing is tried. Every step is recorded, so a worker that takes over tries nothing twice.
 */
export async function proveForPeople(app: App, work: Work): Promise<void> {
  const { journal, run } = work;
  const known = await journal.recall<Known>(knownStep);
  if (known === undefined) throw new RunFailed('internal', 'the files of the pull request were not compared');
  const ask = await askOf(app.db.manager, run);
  work.isForeign = ask.isFork || ask.isForeign === true;
  if (!(await isAboutBase(work, known, ask))) return beginAgain(app, work, ask);
  const judged = await journal.once('pull proof', async () => {
    const { proof, notes } = known.proved ?? (await tryPull(work, ask, known));
    const { status, reason, isHindered = false } = proof;
    return { proof: { status, reason, isHindered }, notes };
  });
  if (known.proved !== undefined)
    await journal.note(
      'proof',
      `the files that decide are those of ${known.proved.headSha.slice(0, 7)}, so nothing was tried`,
    );
  const { fingerprint, commits } = known;
  const settings = rulesIn(await settingsRead(work));
  await journal.write(async (em) => {
    await storeJudged(em, run.id, { ...judged, seconds: await readSeconds(em, run), fingerprint, commits, settings });
    await concludeRun(app, em, run, 'succeeded');
    await tryMoveTask(app, em, run.taskId, 'finish', { facts: { finishedUnchanged: true } });
  });
  app.metrics.runs.inc({ status: 'succeeded', category: '' });
}

/** Returns the settings that the run has read. They may be others than when the proof was asked for. */
async function settingsRead({ journal, task, repository }: Work): Promise<RepositorySettings> {
  return { ...noSettings, ...(await journal.recall<RepositorySettings>(stepOf('settings', task, repository))) };
}

/**
 * Returns whether a pull request still differs from the commit that was found. Its commits are stored first, so that a push into the
 * base branch from then on has it proved again. A push that came earlier, while the pull request was fetched, is noticed here.
 */
async function isAboutBase(work: Work, { base, commits }: Known, { repositoryId }: PullAsk): Promise<boolean> {
  const { journal, run, checkout, retrying, baseBranch } = work;
  await journal.write(async (em) => {
    await storeCommits(em, run.id, commits);
    await followBaseFrom(em, repositoryId, { branch: baseBranch, head: work.baseHead });
  });
  const { isSame } = await journal.once('base of the proof', async () => {
    const baseHead = base === undefined ? undefined : await retrying(() => checkout.fetch(baseBranch));
    return { isSame: baseHead === undefined || (await clearBase({ ...work, baseHead })) === base };
  });
  return isSame;
}

/**
 * Ends a run and has its pull request proved again, because it differs from another commit now.
 * @throws RunFailed `repository` if a person asked, who has to ask again
 */
async function beginAgain(app: App, work: Work, { repositoryId, number }: PullAsk): Promise<void> {
  const { journal, run } = work;
  if (run.startedBy !== null)
    throw new RunFailed(
      'repository',
      'the base branch took in commits of the pull request while it was fetched; ask for the proof again',
    );
  await journal.note('proof', 'the base branch has taken in commits of the pull request, so it is proved again');
  await journal.write(async (em) => {
    await app.queue.send(em, 'proof', { repositoryId, number }, { key: `${repositoryId} ${number}` });
    await tryMoveTask(app, em, run.taskId, 'cancel');
    await concludeRun(app, em, run, 'cancelled');
  });
}

async function tryPull(work: Work, ask: PullAsk, { changesTests }: Known) {
  const tree = await work.checkout.treeOf(work.branch.from);
  const proved = changesTests ? await tryTests(work, ask, tree) : await proveChange(work, tree, []);
  const { proof, failingTests = [] } = proved;
  return { proof, notes: await notesFor(work, proof, failingTests) };
}

async function tryTests(work: Work, ask: PullAsk, tree: string): Promise<Proved> {
  const why = whyNotTried(work, ask);
  return why === undefined ? proveChange(work, tree) : { proof: notRun(why) };
}

const readSeconds = async (em: EntityManager, { id }: RunRow) => Math.round((await readElapsedMs(em, id)) / 1000);

/** Stores that the proof of a failed run did not run. */
export async function storeUnproved(em: EntityManager, run: RunRow, failure: Failure): Promise<void> {
  const proof = notRun(failure.message);
  await storeJudged(em, run.id, {
    proof,
    notes: [],
    seconds: await readSeconds(em, run),
    fingerprint: null,
    commits: [],
  });
}
