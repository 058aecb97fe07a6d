import type { EntityManager } from 'typeorm';
import type { Learned } from '../../conversation/memory.ts';
import { storableJson } from '../../domain/text/sanitize.ts';
import type { Message } from '../../llm/model.ts';
import type { TokenUsage } from '../../llm/usage.ts';

/** One turn of a conversation. In the database turns are numbered from 0, for people from 1. */
export interface Turn {
  messages: Message[];
}

export interface NewTurn extends Turn {
  /** The files that the turn changed, packed; null if it changed none. */
  workspace: Buffer | null;
  usage: TokenUsage & { costUsd: number | null };
  /** What the prompt left out, if that changed since the turn before. */
  learned?: Learned | undefined;
}

export async function listTurns(em: EntityManager, runId: string): Promise<Turn[]> {
  return em.query('select messages from run_turns where run_id = $1 order by turn', [runId]);
}

export async function insertTurn(em: EntityManager, runId: string, turn: number, given: NewTurn): Promise<void> {
  const { messages, workspace, usage, learned } = given;
  await em.query(
    `insert into run_turns (run_id, turn, messages, workspace, input_tokens, cached_input_tokens, output_tokens,
       cost_usd, learned) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      runId,
      turn,
      storableJson(messages),
      workspace,
      usage.inputTokens,
      usage.cachedInputTokens,
      usage.outputTokens,
      usage.costUsd,
      learned === undefined ? null : storableJson(learned),
    ],
  );
}

/** Replaces the messages of a turn. */
export async function setMessages(em: EntityManager, runId: string, turn: number, messages: Message[]): Promise<void> {
  await em.query('update run_turns set messages = $3 where run_id = $1 and turn = $2', [
    runId,
    turn,
    storableJson(messages),
  ]);
}

/** A turn as people see it, with its figures. */
export interface ShownTurn extends Turn, TokenUsage {
  turn: number;
  at: Date;
  costUsd: number | null;
}

/**
 * Returns the turns of a run with their figures, oldest first. Reads one row more than the limit, so that the caller can
 * tell whether there is another page.
 */
export async function listShownTurns(
  em: EntityManager,
  runId: string,
  page: { limit: number; offset: number },
): Promise<ShownTurn[]> {
  return em.query(
    `select turn + 1 as turn, at, messages, coalesce(input_tokens, 0)::float8 as "inputTokens",
       coalesce(cached_input_tokens, 0)::float8 as "cachedInputTokens",
       coalesce(output_tokens, 0)::float8 as "outputTokens", cost_usd::float8 as "costUsd"
     from run_turns t where run_id = $1 order by t.turn limit $2 offset $3`,
    [runId, page.limit + 1, page.offset],
  );
}

/**
 * Deletes turns of runs that ended this many days ago, oldest first. The whole conversation of a run is kept until then,
 * because it is of use only as a whole. Returns the number deleted.
 */
export async function deleteOldTurns(em: EntityManager, days: number, limit: number): Promise<number> {
  // No turn is newer than the end of its run. The first condition finds the rows by the index.
  const [, count]: [unknown, number] = await em.query(
    `delete from run_turns where (run_id, turn) in (
       select t.run_id, t.turn from run_turns t join runs r on r.id = t.run_id
       where t.at < now() - make_interval(days => $1) and r.finished_at < now() - make_interval(days => $1)
       order by t.at limit $2)`,
    [days, limit],
  );
  return count;
}
