import type { CheckResult } from '../../conversation/ending.ts';
import { type ComparedCheck, compareTries, type EndOfChecks } from '../../domain/proof/flaky.ts';
import { insertStep, stepOf } from '../../runs/journal.ts';
import { countCompared, isKnownFlaky } from '../../runs/proof/flaky-store.ts';
import type { Work } from '../work.ts';
import { firstFailure, runChecks } from './run-checks.ts';

/**
 * Counts, once in a run, what several tries of checks on the same files said, and says in its log which differ. Code of
 * somebody who may not write here could let any check differ, so it does not count.
 */
export async function countOnce(work: Work, name: string, compared: ComparedCheck[]): Promise<void> {
  const { journal, run, task, repository, environment } = work;
  if (compared.length === 0 || work.isForeign) return;
  const step = stepOf(name, task, repository);
  if ((await journal.recall(step)) !== undefined) return;
  // Where people may not see the output, they may not see names from it either.
  const counted = environment.context.isOutputHidden ? compared.map((each) => ({ ...each, tests: [] })) : compared;
  await journal.write(async (em) => {
    await countCompared(em, repository.id, counted);
    await insertStep(em, run.id, step, {});
  });
  for (const { command, tests } of counted.filter(({ differs }) => differs)) {
    const named = tests.length === 0 ? '' : `, in ${tests.slice(0, 3).join(', ')}`;
    await journal.note('proof', `${command}: its result differs between two tries on the same files${named}`);
  }
}

/** A check that failed after more seconds than this runs again only if it is known to be flaky. */
const quickSeconds = 120;

/**
 * Runs the checks of a repository, and once more if one fails, because a flaky check must cost no correction by the agent and no proof.
 * The second results count if they pass.
 */
export async function checkTwice(work: Work, tree: string): Promise<CheckResult[]> {
  const first = await runChecks(work, tree);
  const failing = firstFailure(first);
  const { checks } = work.settings;
  if (failing === undefined || !checks.includes(failing.command)) return first;
  const { repository, journal, environment } = work;
  const em = environment.context.app.db.manager;
  const isWorth = failing.seconds <= quickSeconds || (await isKnownFlaky(em, repository.id, failing.command));
  if (!isWorth) return first;
  await journal.note('check', `${failing.command}: runs once more, in case it is flaky`);
  const second = await runChecks(work, tree);
  const endOf = (results: CheckResult[]): EndOfChecks => {
    const failed = firstFailure(results);
    return failed === undefined ? { outcome: 'passed' } : { outcome: 'failed', failing: failed };
  };
  const rounds = (await journal.steps('compared checks ')).length;
  await countOnce(
    work,
    `compared checks ${repository.id} ${rounds}`,
    compareTries(checks, endOf(first), endOf(second)),
  );
  return firstFailure(second) === undefined ? second : first;
}
