import type { ComparedCheck } from '../../domain/proof/flaky.ts';
import { insertStep, stepOf } from '../../runs/journal.ts';
import { countCompared } from '../../runs/proof/flaky-store.ts';
import type { Work } from '../work.ts';

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
