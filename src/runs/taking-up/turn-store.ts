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

/** A turn as it is stored, with its figures. */
export interface StoredTurn extends Turn, TokenUsage {
  turn: number;
  at: Date;
  costUsd: number | null;
  /** The size of the messages as JSON. */
  bytes: number;
}

/** How much space a turn needs in the database. */
interface TurnSize {
  turn: number;
  /** Compressed, which is many times smaller for text that repeats itself. */
  bytes: number;
}

/** Returns the sizes of the turns of a run, or of a page of them, oldest first. Does not read the turns. */
export async function listTurnSizes(
  em: EntityManager,
  runId: string,
  { limit, offset }: { limit: number | null; offset: number } = { limit: null, offset: 0 },
): Promise<TurnSize[]> {
  return em.query(
    `select turn, pg_column_size(messages) as bytes from run_turns where run_id = $1 order by turn limit $2 offset $3`,
    [runId, limit, offset],
  );
}

/** Turns are read together up to this size. PostgreSQL compresses at most ninetyfold, so they have at most 9 MB. */
const maxTogether = 100_000;

/**
 * Reads turns of a run one after the other, in the given order and a few small ones at a time: all turns of a run may be
 * hundreds of megabytes. Leaves out those that were deleted in the meantime.
 */
export async function* readTurns(em: EntityManager, runId: string, sizes: TurnSize[]): AsyncGenerator<StoredTurn> {
  for (let from = 0, to = 0; from < sizes.length; from = to) {
    for (let bytes = 0; to < sizes.length; to++) {
      bytes += sizes[to]?.bytes ?? 0;
      if (bytes > maxTogether && to > from) break;
    }
    const turns = sizes.slice(from, to).map(({ turn }) => turn);
    const rows: StoredTurn[] = await em.query(
      `select turn + 1 as turn, at, messages, octet_length(messages::text) as bytes,
         coalesce(input_tokens, 0)::float8 as "inputTokens",
         coalesce(cached_input_tokens, 0)::float8 as "cachedInputTokens",
         coalesce(output_tokens, 0)::float8 as "outputTokens", cost_usd::float8 as "costUsd"
       from run_turns where run_id = $1 and turn = any($2) order by array_position($2, turn)`,
      [runId, turns],
    );
    yield* rows;
  }
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
