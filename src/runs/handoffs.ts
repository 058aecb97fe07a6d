import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { cutText } from '../conversation/ending.ts';
import { factsOf } from '../conversation/facts.ts';
import type { Handoff } from '../conversation/handoff.ts';
import type { Failure } from '../domain/run.ts';
import { withoutSecrets } from '../domain/secrets.ts';
import { insertHandoff } from '../tasks/work-store.ts';
import { listTurns } from './continuing/turn-store.ts';

interface Ended {
  id: string;
  taskId: string;
}

/** Stores the handoff of a failed run: why it failed, and what the model says or else the facts. */
export async function storeFailureHandoff(
  app: App,
  em: EntityManager,
  run: Ended,
  failure: Failure,
  handoff: Handoff | undefined,
): Promise<void> {
  const learned = handoff?.summary ?? (await factsOfRun(app, em, run.id));
  const summary = joined(`The run failed (${failure.category}): ${failure.message}`, learned);
  await insertHandoff(em, { taskId: run.taskId, runId: run.id, summary, nextSteps: handoff?.nextSteps ?? [] });
}

/** Stores the handoff of a cancelled run. The model is not asked, because a cancelled run should cost nothing more. */
export async function storeCancelHandoff(
  app: App,
  em: EntityManager,
  run: Ended,
  why = 'The run was cancelled.',
): Promise<void> {
  const summary = joined(why, await factsOfRun(app, em, run.id));
  await insertHandoff(em, { taskId: run.taskId, runId: run.id, summary, nextSteps: [] });
}

/** Lists the facts of a run from its stored turns; '' when there are none. */
async function factsOfRun(app: App, em: EntityManager, runId: string): Promise<string> {
  const turns = await listTurns(em, runId);
  const facts = turns.length === 0 ? '' : factsOf(turns.flatMap((turn) => turn.messages));
  return withoutSecrets(facts, app.ownSecrets());
}

function joined(reason: string, learned: string): string {
  return cutText([reason, learned].filter((text) => text !== '').join('\n\n'));
}
