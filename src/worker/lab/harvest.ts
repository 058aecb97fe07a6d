import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import type { RunRow } from '../../db/tables/run.ts';
import type { Verdict } from '../../domain/lab/verdict.ts';
import { RunFailed } from '../../domain/run.ts';
import type { Environment } from '../../environment/environment.ts';
import { chooseFiles } from '../../environment/files/choose-files.ts';
import { readersOf } from '../../environment/files/private-submodules.ts';
import { prepareEnvironment } from '../../environment/prepare.ts';
import type { SetupContext } from '../../environment/setup-context.ts';
import { type Benchmark, findBenchmark, meetItem, setLooked, upsertItem } from '../../lab/benchmark-store.ts';
import { credentialFor, remoteFor } from '../../repositories/credentials.ts';
import { openCheckout } from '../../repositories/reader.ts';
import { noSettings, readBase, readSettings } from '../../repositories/settings/repository-settings.ts';
import { findRepository } from '../../repositories/store.ts';
import { concludeRun, type Journal } from '../../runs/journal.ts';
import { tryMoveTask } from '../../tasks/move.ts';
import { findTask } from '../../tasks/store.ts';
import { insertHandoff } from '../../tasks/work-store.ts';
import { readElapsedMs } from '../lease/run-clock.ts';
import type { RetryPolicy } from '../retry.ts';
import { type Candidate, type Looked, lookAtPage, type Past, readPage } from './look-at-history.ts';
import { placeOfTexts, type Reading, readText } from './read-text.ts';
import { tryCandidate, withoutSetup } from './try-candidate.ts';

/** A harvest ends after an hour. What it has found by then is the benchmark. */
const limitMs = 3_600_000;

/** What a harvest shares with every run. */
interface Shared {
  journal: Journal;
  retrying: RetryPolicy;
  /** Aborted when this worker has lost its lease. */
  outer: AbortSignal;
}

/** A harvest that is under way. */
interface Harvest extends Shared {
  app: App;
  run: RunRow;
  repository: RepositoryRow;
  benchmark: Benchmark;
  past: Past;
  context: SetupContext;
  reading: Reading;
  slowest: { seconds: number };
  /** Gets a new token for git when the last one is about to expire. */
  renewToken(): Promise<void>;
}

/**
 * Makes a benchmark of a repository's history: looks at merged changes, newest first, tries those that may become tasks, and
 * stores each with its text. Each step is recorded, so a worker that takes over tries nothing twice, and the hour counts from
 * the first start. No model is asked.
 * @throws RunFailed when there is nothing to try with
 */
export async function harvest(app: App, run: RunRow, shared: Shared): Promise<void> {
  const em = app.db.manager;
  const task = await findTask(em, run.taskId);
  const repository = task?.repositoryId == null ? null : await findRepository(em, task.repositoryId);
  if (repository === null) throw new RunFailed('repository', 'the repository of the benchmark is no longer connected');
  const benchmark = await findBenchmark(em, repository.id);
  if (benchmark?.runId !== run.id) throw new RunFailed('internal', 'nobody knows for which benchmark this run is');
  if (!app.sandbox.state.works) throw new RunFailed('sandbox', app.sandbox.state.says);
  const leftMs = limitMs - (await readElapsedMs(em, run.id));
  const over = AbortSignal.timeout(Math.max(1, Math.round(leftMs)));
  let why = 'the hour was over';
  try {
    if (leftMs > 0) why = await harvestUntil(app, { run, repository, benchmark }, over, shared);
  } catch (error) {
    // What was being tried when the hour ended is dropped.
    if (!over.aborted || shared.outer.aborted) throw error;
  }
  await succeed(app, run, repository, shared.journal, why);
}

async function succeed(app: App, run: RunRow, { id }: RepositoryRow, journal: Journal, why: string): Promise<void> {
  const { usable = 0, looked = 0 } = (await findBenchmark(app.db.manager, id)) ?? {};
  const summary = `The benchmark has ${usable} usable ${usable === 1 ? 'item' : 'items'}. Looked at ${looked} ${looked === 1 ? 'commit' : 'commits'}, until ${why}.`;
  await journal.note('harvest', summary);
  await journal.write(async (em) => {
    await insertHandoff(em, { taskId: run.taskId, runId: run.id, summary, nextSteps: [] });
    await concludeRun(app, em, run, 'succeeded');
    await tryMoveTask(app, em, run.taskId, 'finish', { facts: { finishedUnchanged: true } });
  });
  app.metrics.runs.inc({ status: 'succeeded', category: '' });
}

type About = Pick<Harvest, 'run' | 'repository' | 'benchmark'>;

/** A token must last at least this long for the next fetch. */
const spareMs = 10 * 60_000;

/** Opens the repository and harvests it. Returns why it stopped, as the end of a sentence. */
async function harvestUntil(app: App, about: About, over: AbortSignal, shared: Shared): Promise<string> {
  const { run, repository, benchmark } = about;
  const { journal, retrying } = shared;
  const signal = AbortSignal.any([shared.outer, over]);
  // Each token follows from who may have one at that moment.
  const reach = async () => remoteFor(app, repository, await credentialFor(app, repository), { contents: 'read' });
  let remote = await retrying(reach);
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    const known = async (commit: string) => ({
      ...noSettings,
      ...(await journal.once('settings', () => readSettings(checkout, commit))),
    });
    const { settings, head, trusted } = await retrying(() => readBase(checkout, { repository, remote }, known));
    if (settings.checks.length === 0)
      throw new RunFailed(
        'checks',
        'the repository has no checks in .deckhand.yml, so nothing tells whether a change is right; add `checks` on the default branch',
      );
    const { commit } = await journal.once('head', async () => ({ commit: head }));
    if (commit !== head && !(await checkout.fetchCommit(commit)))
      throw new RunFailed('repository', `the commit ${commit} from which the harvest began no longer exists`);
    const readers = readersOf(app, repository, run.startedBy === null ? [] : [run.startedBy]);
    await chooseFiles(checkout, { app, remote, settings, signal, readers });
    await checkout.checkout(commit);
    return await harvestPages({
      ...shared,
      ...{ app, run, repository, benchmark },
      past: { checkout, settings, head: commit, trusted, since: benchmark.since },
      context: { app, repository, checkout, settings, readers, signal, note: journal.note },
      reading: { checkout, retrying, findPlace: () => placeOfTexts(app, repository) },
      slowest: { seconds: 0 },
      renewToken: async () => {
        if (remote.tokenEndsAt === undefined || remote.tokenEndsAt.getTime() - Date.now() > spareMs) return;
        remote = await retrying(reach);
        await checkout.renewToken(remote.token);
      },
    });
  } finally {
    await remove();
  }
}

/** Looks at one page of the history after the other, and tries what may be usable. */
async function harvestPages(harvest: Harvest): Promise<string> {
  const { benchmark, past } = harvest;
  const counted = { looked: 0, dropped: {} };
  let usable = 0;
  for (let page = 0; ; page++) {
    await harvest.renewToken();
    const found = await lookAt(harvest, page, counted);
    // Newest first among those that need the same environment, which is prepared once.
    for (const group of Map.groupBy(found.candidates, (each) => each.group).values()) {
      usable += await tryGroup(harvest, group, benchmark.most - usable);
      if (usable >= benchmark.most) return 'there were enough';
    }
    if (found.isLast) return past.since === null ? 'the history ended' : 'the changes were too old';
  }
}

/** Looks at a page, unless an earlier worker did, and adds it to what was counted. */
async function lookAt(
  { journal, run, past, retrying }: Harvest,
  page: number,
  counted: { looked: number; dropped: Record<string, number> },
): Promise<Looked> {
  const step = `page ${page}`;
  const isKnown = (await journal.recall(step)) !== undefined;
  // A worker that takes over needs the history of the pages that are known, too.
  if (isKnown) await retrying(() => readPage(past, page));
  const found = await journal.once(step, () => retrying(() => lookAtPage(past, page)));
  counted.looked += found.looked;
  for (const [reason, count] of Object.entries(found.dropped))
    counted.dropped[reason] = (counted.dropped[reason] ?? 0) + count;
  await journal.write((em) => setLooked(em, run.id, counted));
  const text = `looked at ${counted.looked} commits; of the last ${found.looked}, ${found.candidates.length} may be usable`;
  if (!isKnown) await journal.note('harvest', text);
  return found;
}

/** Tries changes that need the same environment, until `most` of them are usable. Returns how many are. */
async function tryGroup(harvest: Harvest, group: Candidate[], most: number): Promise<number> {
  const { journal } = harvest;
  let environment: Prepared | undefined;
  let usable = 0;
  try {
    for (const candidate of group) {
      if (usable >= most) break;
      const { isUsable } = await journal.once(`item ${candidate.solutionSha}`, async () => {
        if (await isMet(harvest, candidate)) return { isUsable: true };
        environment ??= await prepare(harvest, candidate);
        return { isUsable: await tryOne(harvest, candidate, environment) };
      });
      if (isUsable) usable += 1;
    }
    return usable;
  } finally {
    if (environment !== undefined && 'plan' in environment) await environment.remove();
  }
}

/** Whether an earlier harvest found that a change is usable. */
async function isMet({ journal, repository }: Harvest, { solutionSha, place, subject }: Candidate): Promise<boolean> {
  const isKnown = await journal.write((em) => meetItem(em, repository.id, { solutionSha, place }));
  if (isKnown) await journal.note('harvest', `usable, as an earlier harvest found: ${subject}`);
  return isKnown;
}

/** The environment of some changes, or the verdict about them if it cannot be made. */
type Prepared = Environment | Verdict;

/** Nobody may have seen the commit before a change, so only that from which the harvest began gets secrets. */
async function prepare({ context, past }: Harvest, { baseSha }: Candidate): Promise<Prepared> {
  try {
    return await prepareEnvironment(context, baseSha, { trusted: past.trusted });
  } catch (error) {
    if (context.signal.aborted || !(error instanceof RunFailed) || error.failure.category !== 'setup') throw error;
    await context.note('harvest', error.failure.message);
    return withoutSetup(error);
  }
}

/** Tries a change and stores it as an item. */
async function tryOne(harvest: Harvest, candidate: Candidate, environment: Prepared): Promise<boolean> {
  const { journal, repository, past, slowest } = harvest;
  const { settings } = past;
  const signal = harvest.outer;
  const verdict: Verdict =
    'plan' in environment
      ? await tryCandidate({ environment, settings, journal, signal, slowest }, candidate)
      : environment;
  const { reason, singleTests, seconds } = verdict;
  // Nobody reads the texts of others.
  const said =
    reason === null
      ? await readText(harvest.reading, candidate)
      : { title: candidate.subject, text: candidate.subject, removed: [] };
  await journal.note(
    'harvest',
    `${reason === null ? 'usable' : 'dropped'}: ${said.title}${reason === null ? '' : `. ${reason}`}`,
    {
      commit: candidate.solutionSha,
    },
  );
  await journal.write((em) =>
    upsertItem(em, {
      ...said,
      id: newId('item'),
      repositoryId: repository.id,
      baseSha: candidate.baseSha,
      solutionSha: candidate.solutionSha,
      tests: candidate.tests,
      ...{ singleTests, seconds, reason },
      state: reason === null ? 'usable' : 'rejected',
      environmentKey: 'plan' in environment ? environment.plan.key : '',
      place: candidate.place,
    }),
  );
  return reason === null;
}
