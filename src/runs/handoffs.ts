import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { cutText } from '../conversation/ending.ts';
import { type Facts, factsIn, tellFacts } from '../conversation/facts.ts';
import type { Handoff } from '../conversation/handoff.ts';
import type { Failure } from '../domain/run.ts';
import { withoutSecrets } from '../domain/secrets.ts';
import { isHardToGuess } from '../domain/text/hard-to-guess.ts';
import { insertHandoff } from '../tasks/work-store.ts';
import { listTurnSizes, readTurns } from './taking-up/turn-store.ts';

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
  const summary = joined(`The run failed (${failure.category.replaceAll('_', ' ')}): ${failure.message}`, learned);
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

/**
 * The most bytes of turns that are read for the facts of a run. The request that cancels a run waits for them, in a
 * transaction that holds locks. Runs with many more are rare: theirs are the last turns that fit.
 */
const maxReadBytes = 10_000_000;

/** Lists the facts of a run from its stored turns; '' when there are none. */
async function factsOfRun(app: App, em: EntityManager, runId: string): Promise<string> {
  const sizes = await listTurnSizes(em, runId);
  const parts: Facts[] = [];
  let bytes = 0;
  for await (const turn of readTurns(em, runId, sizes.toReversed())) {
    bytes += turn.bytes;
    if (bytes > maxReadBytes && parts.length > 0) break;
    parts.unshift(factsIn(turn.messages));
  }
  const facts = parts.length === 0 ? '' : tellFacts(parts, sizes.length - parts.length);
  // The agent chose the names of its files, and who reads them must not learn which guess was right.
  return withoutSecrets(facts, app.ownSecrets().filter(isHardToGuess));
}

function joined(reason: string, learned: string): string {
  return cutText([reason, learned].filter((text) => text !== '').join('\n\n'));
}
