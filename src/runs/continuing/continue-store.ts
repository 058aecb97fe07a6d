import type { EntityManager } from 'typeorm';
import { storableJson } from '../../domain/text/storable.ts';
import type { Message } from '../../llm/model.ts';

/**
 * Copies the conversation of a run that has ended to the run that continues it. Where its work was not pushed, also
 * copies the newest state of its files and the commits from which it began. Returns the number of turns; 0, and copies
 * nothing, when the conversation is no longer complete.
 */
export async function copyConversation(em: EntityManager, from: string, to: string): Promise<number> {
  const [{ turns, isComplete, isPushed, hasFiles }] = await em.query(
    `select count(*)::int as turns, coalesce(bool_or(t.workspace is not null), false) as "hasFiles",
       coalesce(max(t.turn) + 1 = count(*), false)
         and exists (select 1 from run_contexts c where c.run_id = $1) as "isComplete",
       exists (select 1 from run_steps s where s.run_id = $1 and (s.name = 'push' or starts_with(s.name, 'push ')))
         as "isPushed"
     from run_turns t where t.run_id = $1`,
    [from],
  );
  if (!isComplete) return 0;
  const keepsFiles = hasFiles && !isPushed;
  await em.query(
    `insert into run_contexts (run_id, opening, cut, limit_chars)
     select $2, opening, cut, limit_chars from run_contexts where run_id = $1`,
    [from, to],
  );
  await em.query(
    `insert into run_turns (run_id, turn, messages, workspace)
     select $2, turn, messages, case when $3 then workspace end from run_turns where run_id = $1`,
    [from, to, keepsFiles],
  );
  // What people had said is part of the first messages, and its images are downloaded again.
  await em.query(
    `insert into run_steps (run_id, name, data)
     select $2, name, data from run_steps
     where run_id = $1 and (name = 'discussion' or $3 and (name = 'branch' or starts_with(name, 'branch ')))`,
    [from, to, keepsFiles],
  );
  return turns;
}

/** Replaces the messages of a turn. */
export async function setMessages(em: EntityManager, runId: string, turn: number, messages: Message[]): Promise<void> {
  await em.query('update run_turns set messages = $3 where run_id = $1 and turn = $2', [
    runId,
    turn,
    storableJson(messages),
  ]);
}
