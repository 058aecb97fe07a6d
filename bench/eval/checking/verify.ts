import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changed } from '../repository/changes.ts';
import { writeFiles } from '../repository/file-tree.ts';
import type { Change, EvalTask, Fetch } from '../tasks/task.ts';
import { runHiddenTests } from './hidden-tests.ts';
import { runIsolated } from './isolated.ts';

/**
 * Proves that a task can be judged: its gold change passes the hidden tests and the visible ones, no change fails the
 * hidden tests, and so does every change that cheats. Returns what is wrong, one sentence per problem.
 */
export async function problemsOf(task: EvalTask, fetch: Fetch): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-eval-verify-'));
  const base = await task.repository(fetch);
  let count = 0;
  const withChange = async (change: Change[]) => {
    const folder = join(root, String(count++));
    await mkdir(folder);
    await writeFiles(folder, changed(base, change));
    return folder;
  };
  const hiddenTests = async (change: Change[]) => runHiddenTests(task, await withChange(change));
  const visibleTests = async (change: Change[]) => runIsolated(await withChange(change), task.testCommand, 120);
  try {
    const problems: string[] = [];
    const gold = await hiddenTests(task.gold);
    if (!gold.passed) problems.push(`the gold change fails the hidden tests: ${gold.output}`);
    if ((await hiddenTests([])).passed) problems.push('the hidden tests pass without a change');
    for (const [name, change] of [['the gold change', task.gold] as const, ['no change', []] as const]) {
      const { code, output } = await visibleTests([...change]);
      if (code !== 0) problems.push(`the visible tests fail with ${name}: ${output.slice(-1000)}`);
    }
    for (const [i, cheat] of task.cheats.entries())
      if ((await hiddenTests(cheat)).passed) problems.push(`cheat ${i + 1} passes the hidden tests`);
    if (task.cheats.length === 0) problems.push('no cheat is declared');
    return problems;
  } catch (error) {
    return [(error as Error).message];
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
