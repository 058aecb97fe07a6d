import type { openRuns } from '../../support/runs.ts';

interface StoredTrial {
  /** The versions of agents that were tried on the same items. */
  arms: string[];
  /** For each item, what each of them made of it. */
  results: string[][];
  status?: 'done' | 'cancelled';
  /** Why items were not solved. */
  reason?: string;
}

let made = 0;

/** Stores a trial that has ended, without a worker. Returns its runs, item by item. */
export async function storeTrial(
  given: ReturnType<typeof openRuns>,
  { arms, results, status = 'done', reason = 'npm test fails' }: StoredTrial,
): Promise<string[]> {
  const em = given.service.app.db.manager;
  const id = `trial_${++made}`;
  const repository = `repo_of_${id}`;
  await em.query(
    `insert into repositories (id, project_id, name, url) values ($1, $2, $1, 'https://github.test/a/' || $1)`,
    [repository, given.projectId],
  );
  await em.query(
    `insert into agent_trials (id, project_id, repository_id, agent_id, status, seed, budget_usd, finished_at)
     values ($1, $2, $3, $4, $5, 's', 5, now())`,
    [id, given.projectId, repository, arms[0], status],
  );
  for (const [arm, agent] of arms.entries())
    await em.query(
      `insert into agent_trial_arms (trial_id, arm, agent_id, version, model, system_prompt, prompt_hash)
       select $1, $2, id, version, 'm', system_prompt, encode(sha256(convert_to(system_prompt, 'UTF8')), 'hex') from agents where id = $3`,
      [id, arm, agent],
    );
  const runs: string[] = [];
  for (const [place, each] of results.entries()) {
    await em.query(
      `insert into agent_trial_items (trial_id, place, item_id, title, text, base_sha, solution_sha, tests)
       values ($1, $2, $3, 't', 't', $4, $4, '[]')`,
      [id, place, `item_${place}`, 'a'.repeat(40)],
    );
    for (const [arm, result] of each.entries()) {
      const run = await given.addRun(em, {
        agentId: arms[arm] ?? null,
        kind: 'trial',
        status: 'succeeded',
        finishedAt: new Date(),
      });
      runs.push(run);
      await em.query(
        'insert into agent_trial_runs (run_id, trial_id, place, arm, result, reason) values ($1, $2, $3, $4, $5, $6)',
        [run, id, place, arm, result, result === 'solved' ? null : reason],
      );
    }
  }
  return runs;
}
