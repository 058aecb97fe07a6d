import type { EntityManager } from 'typeorm';
import { lockUntilCommit } from '../../db/locks.ts';
import type { Suggestion } from '../../domain/learning/suggestion.ts';

/** Identifies the evidence about an agent that a model gets. `key` is the hash of that evidence. */
export interface EvidenceKey {
  agentId: string;
  /** The agent with all its versions. */
  lineId: string;
  key: string;
}
type Kept = Omit<EvidenceKey, 'lineId'>;

/** After a model gave no usable answer, it is not asked about the same evidence for this long. */
const retryMinutes = 10;
/** Model requests per `retryMinutes`, counted for all versions of an agent and all readers together. */
const maxAsked = 3;
/** Suggestions are kept for this many different states of the evidence of an agent. */
const maxKept = 20;

/** Returns the suggestions that a model has written, or undefined. */
export async function findSuggestions(em: EntityManager, { agentId, key }: Kept): Promise<Suggestion[] | undefined> {
  const [row] = await em.query('select suggestions from agent_suggestions where agent_id = $1 and evidence_key = $2', [
    agentId,
    key,
  ]);
  return row?.suggestions ?? undefined;
}

/**
 * Returns true if the caller should ask a model. Others get false until `retryMinutes` have passed without an answer.
 * Call it in a transaction.
 */
export async function claimSuggestions(em: EntityManager, { agentId, lineId, key }: EvidenceKey): Promise<boolean> {
  await lockUntilCommit(em, 'suggestions', lineId);
  const rows = await em.query(
    `insert into agent_suggestions as s (agent_id, evidence_key)
     select $1, $2 where ${maxAsked} > (
       select count(*) from agents v join agent_suggestions made on made.agent_id = v.id
       where v.line_id = $3 and made.made_at >= now() - make_interval(mins => ${retryMinutes}))
     on conflict (agent_id, evidence_key) do update set made_at = now(), ended_at = null
       where s.suggestions is null and s.made_at < now() - make_interval(mins => ${retryMinutes})
     returning 1`,
    [agentId, key, lineId],
  );
  return rows.length > 0;
}

/** Returns whether a model is being asked about this evidence. A request that was lost counts until it can be repeated. */
export async function isBeingAsked(em: EntityManager, { agentId, key }: Kept): Promise<boolean> {
  const rows = await em.query(
    `select 1 from agent_suggestions where agent_id = $1 and evidence_key = $2 and suggestions is null
       and ended_at is null and made_at > now() - make_interval(mins => ${retryMinutes})`,
    [agentId, key],
  );
  return rows.length > 0;
}

/** Stores that a model gave no usable answer. */
export async function noteNoAnswer(em: EntityManager, { agentId, key }: Kept): Promise<void> {
  await em.query('update agent_suggestions set ended_at = now() where agent_id = $1 and evidence_key = $2', [
    agentId,
    key,
  ]);
}

/** Stores what a model has written, and deletes what is old. */
export async function storeSuggestions(
  em: EntityManager,
  { agentId, key }: Kept,
  suggestions: Suggestion[],
): Promise<void> {
  await em.query(
    `with stored as (
       insert into agent_suggestions (agent_id, evidence_key, suggestions, ended_at)
         select id, $2, $3, now() from agents where id = $1
       on conflict (agent_id, evidence_key)
         do update set suggestions = excluded.suggestions, made_at = now(), ended_at = now())
     delete from agent_suggestions where agent_id = $1 and evidence_key <> $2 and evidence_key not in (
       select evidence_key from agent_suggestions where agent_id = $1 order by made_at desc limit ${maxKept})`,
    [agentId, key, JSON.stringify(suggestions)],
  );
}
