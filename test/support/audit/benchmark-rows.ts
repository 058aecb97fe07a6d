/** SQL: stores a usable item, `$1`, of the benchmark of the repository `$2`, which has to exist. */
export const newItem = `
  insert into benchmark_items (id, repository_id, title, text, removed, base_sha, solution_sha, tests, single_tests,
    seconds, state, environment_key, place)
  values ($1, $2, 'An item', 'What it is about.', '[]', repeat('a', 40), repeat('b', 40), '["test/a.test.js"]', '["it adds"]',
    1.5, 'usable', '', 0)`;

/** SQL: stores the benchmark of the repository `$1`, harvested by the run `$3` of the task `$2`. */
const newBenchmark = `
  insert into benchmarks (repository_id, task_id, run_id, most) values ($1, $2, $3, 20)`;

/** Stores a benchmark with one usable item. */
export async function storeBenchmark(
  query: (sql: string, values: unknown[]) => Promise<unknown>,
  { repositoryId, taskId, runId, itemId }: { repositoryId: string; taskId: string; runId: string; itemId: string },
): Promise<void> {
  await query(newBenchmark, [repositoryId, taskId, runId]);
  await query(newItem, [itemId, repositoryId]);
}
