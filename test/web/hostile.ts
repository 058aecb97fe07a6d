import { isThorough } from '../support/thorough.ts';
import type { World } from '../support/world.ts';

/** Wider than any screen. Chromium lays out a word of 10,000 characters for seconds on each page. */
const word = 'A'.repeat(isThorough ? 10_000 : 1000);

/** Hostile text that a person might enter as a title, description or name, or that a model might write. */
export const hostile = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>[x](javascript:window.hit=1) ![p](https://tracker.example/p.png) \u202Eevil`;
export const hostileText = `${hostile}\n\n<iframe src="javascript:window.hit=1"></iframe>\n\n[data](data:text/html,<script>window.hit=1</script>) <https://ok.example/>\n\n${word}`;

/** Adds an earlier failed run of the agent, so that its page shows a suggestion with a quotation. */
export async function addHostileFailure(world: World, taskId: string, agentId: string): Promise<void> {
  const failure = { category: 'checks', message: hostileText.slice(0, 2000), retryable: true };
  await world.sql(
    `insert into runs (id, task_id, project_id, agent_id, kind, status, failure, created_at, started_at, finished_at)
     values ('run_hostile', $1, $2, $3, 'start', 'failed', $4, now() - interval '1 day', now(), now())`,
    [taskId, world.project.id, agentId, JSON.stringify(failure)],
  );
}

/** Answers the questions of the planning session at an address, and writes a plan by hand. */
export async function addHostilePlan(world: World, at: string, first: { id: string }, agentId: string): Promise<void> {
  const call = <T>(method: string, where: string, body: object) =>
    world.service.api<T>(world.token, method, where, body);
  type State = { currentStep: { id: string } | null; updatedAt: string };
  let state: State = { currentStep: first, updatedAt: '' };
  while (state.currentStep !== null) {
    const answer = { stepId: state.currentStep.id, customText: hostile };
    state = await call<State>('POST', `${at}/answer`, { answer });
  }
  const task = { ref: hostile.slice(0, 200), title: hostile.slice(0, 200), description: hostileText, owner: agentId };
  await call('PATCH', at, {
    prd: { title: hostile, markdown: hostileText },
    plan: { phases: [{ name: hostile, goal: 'A'.repeat(2000), reason: hostile }] },
    tasks: [{ ...task, ownerReason: hostile }],
    updatedAt: state.updatedAt,
  });
}

/** Adds the result of a trial whose commands wrote hostile text. Returns the id of the repository. */
export async function addHostileTrial(world: World): Promise<string> {
  const [repository] = await world.get<{ id: string }[]>('/repositories');
  const id = repository?.id ?? '';
  const commands = [0, 4, null].map((exitCode) => ({ command: hostile, exitCode, seconds: 1.5, output: hostileText }));
  await world.sql(
    `insert into environment_trials (id, repository_id, status, finished_at, image, problem, commands, refused_hosts)
     values ('trial_hostile', $1, 'failed', now(), $2, $3, $4, $5)`,
    [id, hostile, hostileText, JSON.stringify(commands), JSON.stringify([{ host: hostile, times: 3 }])],
  );
  return id;
}
