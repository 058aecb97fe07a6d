import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import type { JudgedEnding } from '../../conversation/ending.ts';
import { type Failure, type FailureCategory, RunFailed } from '../../domain/run.ts';
import { SetupNeedsApproval } from '../../environment/change/read-manifests.ts';
import { isOfTrial, queueTrialJob } from '../../lab/trial-advance.ts';
import { findTriedItem, setTrialResult, type TrialItem, type TrialResult } from '../../lab/trial-store.ts';
import { concludeRun } from '../../runs/journal.ts';
import { tryMoveTask } from '../../tasks/move.ts';
import { lookUp } from '../leaving/changes.ts';
import { judgeChanges } from '../leaving/objection.ts';
import { firstFailure, runChecks } from '../proof/run-checks.ts';
import { workInside } from '../session.ts';
import type { Limited, Work } from '../work.ts';
import type { Signals } from '../workspace/workspace.ts';
import { treeWithHiddenTests } from './hidden-tests.ts';

/** What became of an item. */
interface Verdict {
  result: Exclude<TrialResult, 'error'>;
  reason: string | null;
}

/**
 * Lets an agent work on an item of a benchmark, then judges its files by the hidden tests. Nothing leaves the service. Every
 * step is recorded, so a worker that takes over asks no model and tries no tests twice.
 * @throws RunFailed when the agent ended without files to judge, or when they cannot be judged
 */
export async function tryItem(app: App, given: Limited, work: Work, signals: Signals): Promise<void> {
  const { journal, run } = work;
  const tried = await findTriedItem(app.db.manager, run.id);
  if (tried === undefined) throw new RunFailed('internal', 'nobody knows which item this run tries');
  const ending = await workInside(app, given, work, signals);
  const verdict = await journal.once('trial judged', () => judgeItem(app, work, tried.item, ending));
  const { result, reason } = verdict;
  await journal.note('trial', result === 'solved' ? 'solved: the hidden tests pass' : `not solved: ${reason}`);
  await journal.write(async (em) => {
    await setTrialResult(em, run.id, verdict);
    await concludeRun(app, em, run, 'succeeded');
    await tryMoveTask(app, em, run.taskId, 'finish', { facts: { finishedUnchanged: true } });
    await queueTrialJob(app, em, tried);
  });
  app.metrics.runs.inc({ status: 'succeeded', category: '' });
}

/** Characters of what a failing check printed that are kept. */
const maxOutput = 1000;

async function judgeItem(app: App, work: Work, item: TrialItem, ending: JudgedEnding): Promise<Verdict> {
  const unsolved = (reason: string): Verdict => ({ result: 'unsolved', reason });
  if (ending.unfit !== undefined) return unsolved(`its files cannot be read: ${ending.unfit}`);
  const treeOf = lookUp(ending.trees);
  const { refused } = await judgeChanges(work, treeOf);
  if (refused !== undefined) return unsolved(`its change would not be pushed:\n${refused}`);
  if (!work.host.hasShell) throw new RunFailed('sandbox', 'the hidden tests cannot run without a working sandbox');
  if (work.settings.checks.length === 0)
    throw new RunFailed('checks', 'the repository has no checks in .deckhand.yml any more, so nothing can be judged');
  const tree = await treeWithHiddenTests(app, work, item, await treeOf(work));
  const failing = await failsTwice(work, tree);
  if (failing === undefined) return { result: 'solved', reason: null };
  return unsolved(`${failing.command} fails: ${failing.output.trim().slice(-maxOutput)}`);
}

interface Failing {
  command: string;
  output: string;
}

/** Runs the checks, and once more if they fail: the tests of an item passed several times, but a machine can be busy. */
async function failsTwice(work: Work, tree: string): Promise<Failing | undefined> {
  for (let attempt = 1; ; attempt++) {
    const failing = await failsOnce(work, tree);
    if (failing === undefined || attempt === 2) return failing;
  }
}

async function failsOnce(work: Work, tree: string): Promise<Failing | undefined> {
  const isHidden = work.environment.context.isOutputHidden === true;
  try {
    const failing = firstFailure(await runChecks(work, tree));
    return failing === undefined ? undefined : { ...failing, output: isHidden ? '' : failing.output };
  } catch (error) {
    if (error instanceof SetupNeedsApproval) return { command: 'set-up', output: error.message };
    throw error;
  }
}

/** Failures by which an agent shows that it cannot solve an item. All others are of its surroundings. */
const ownFailures: readonly FailureCategory[] = [
  ...(['budget', 'timeout', 'model', 'gave_up', 'no_changes', 'conflict', 'push_rejected'] as const),
];

/** Stores what the failure of a run means for its trial. `isModelsFault` says that the model could not be asked. */
export async function storeFailedTry(
  app: App,
  em: EntityManager,
  runId: string,
  { failure, isModelsFault }: { failure: Failure; isModelsFault: boolean },
): Promise<void> {
  const tried = await findTriedItem(em, runId);
  if (tried === undefined) return;
  const isDaily = failure.category === 'budget' && failure.message.includes('(daily ');
  const isOwn = ownFailures.includes(failure.category) && !isModelsFault && !isDaily && !isOfTrial(failure);
  await setTrialResult(em, runId, { result: isOwn ? 'unsolved' : 'error', reason: failure.message });
  await queueTrialJob(app, em, tried);
}
