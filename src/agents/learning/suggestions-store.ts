import type { EntityManager } from 'typeorm';
import type { Suggestion } from '../../domain/learning/suggestion.ts';

/** Identifies what a model was told about an agent. The key is a hash of it. */
interface Told {
  agentId: string;
  key: string;
}

/** After a model gave no usable answer, it is not asked about the same evidence for this long. */
const retryMinutes = 10;
/** Suggestions are kept for this many different states of the evidence of an agent. */
const maxKept = 20;

/** Returns the suggestions that a model has written, or undefined. */
export async function findSuggestions(em: EntityManager, { agentId, key }: Told): Promise<Suggestion[] | undefined> {
  const [row] = await em.query('select suggestions from agent_suggestions where agent_id = $1 and evidence_key = $2', [
    agentId,
    key,
  ]);
  return row?.suggestions ?? undefined;
}

/**
 * Returns true if the caller should ask a model. Others get false until `retryMinutes` have passed without an answer.
 */
export async function claimSuggestions(em: EntityManager, { agentId, key }: Told): Promise<boolean> {
  const rows = await em.query(
    `insert into agent_suggestions as s (agent_id, evidence_key) values ($1, $2)
     on conflict (agent_id, evidence_key) do update set made_at = now()
       where s.suggestions is null and s.made_at < now() - make_interval(mins => ${retryMinutes})
     returning 1`,
    [agentId, key],
  );
  return rows.length > 0;
}

/** Stores what a model has written, and deletes what is old. */
export async function storeSuggestions(
  em: EntityManager,
  { agentId, key }: Told,
  suggestions: Suggestion[],
): Promise<void> {
  await em.query(
    `update agent_suggestions set suggestions = $3, made_at = now() where agent_id = $1 and evidence_key = $2`,
    [agentId, key, JSON.stringify(suggestions)],
  );
  await em.query(
    `delete from agent_suggestions where agent_id = $1 and evidence_key not in (
       select evidence_key from agent_suggestions where agent_id = $1 order by made_at desc limit ${maxKept})`,
    [agentId],
  );
}
