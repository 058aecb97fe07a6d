import type { EntityManager } from 'typeorm';
import type { RunRow } from '../../db/tables/run.ts';
import { endedByLimit, type RunKind } from '../../domain/run.ts';
import { openedPrefix } from '../../repositories/store.ts';
import { droppedStep, earlierStep } from '../journal.ts';
import { listRuns } from '../store.ts';

/** Where the conversation of a run comes from. */
interface Origin {
  /** The run, and for a rewound run those that it goes back to. */
  runIds: string[];
  /** The kind of the run that is not rewound itself. */
  kind: RunKind;
  /** When the turn ended to which a rewound run goes back; null for any other run. */
  until: Date | null;
}

/** Follows a rewound run back to the run that began its conversation. */
export async function findOrigin(
  em: EntityManager,
  { id, kind, rewoundTurn }: Pick<RunRow, 'id' | 'kind' | 'rewoundTurn'>,
): Promise<Origin> {
  if (rewoundTurn === null) return { runIds: [id], kind, until: null };
  const rows: Origin[] = await em.query(
    `with recursive line as (
       select id, kind, continues_run_id, 0 as depth from runs where id = $1
       union all
       select r.id, r.kind, r.continues_run_id, l.depth + 1
       from line l join runs r on r.id = l.continues_run_id where l.kind = 'rewind')
     select array_agg(id order by depth) as "runIds", (array_agg(kind order by depth desc))[1] as kind /* not null */,
       (select at from run_turns where run_id = $1 and turn = $2) as until
     from line having count(*) > 0`,
    [id, rewoundTurn - 1],
  );
  return rows[0] ?? { runIds: [id], kind, until: null };
}

/** The step of a run that holds what it copied from an earlier run. */
export const copiedStep = 'conversation';

/** What a run copied from an earlier one. */
export interface Copied {
  /** The number of turns; 0 when the conversation was no longer kept. */
  turns: number;
  /**
   * The first turn, numbered from 0, whose files are stored with this run. Those of earlier turns are with the earlier
   * run.
   */
  filesSince: number;
}

/**
 * Copies the conversation of a run that has ended to the run that takes it up. Where its work was not pushed, also
 * copies its files and the commits from which it began. Copies nothing when the conversation is no longer complete.
 */
export async function copyConversation(em: EntityManager, from: string, to: string): Promise<Copied> {
  const [{ turns, isComplete, isPushed, hasFiles }]: [
    { turns: number; isComplete: boolean; isPushed: boolean; hasFiles: boolean },
  ] = await em.query(
    `select count(*)::int as turns,
       coalesce(bool_or(t.workspace is not null), false)
         or exists (select 1 from run_contexts c where c.run_id = $1 and c.workspace is not null) as "hasFiles",
       coalesce(max(t.turn) + 1 = count(*), false)
         and exists (select 1 from run_contexts c where c.run_id = $1) as "isComplete",
       exists (select 1 from run_steps s where s.run_id = $1 and (s.name = 'push' or starts_with(s.name, 'push ')))
         as "isPushed"
     from run_turns t where t.run_id = $1`,
    [from],
  );
  if (!isComplete) return { turns: 0, filesSince: 0 };
  const keepsFiles = hasFiles && !isPushed;
  await em.query(
    `insert into run_contexts (run_id, opening, cut, limit_chars, workspace)
     select $2, opening, cut, limit_chars, case when $3 then workspace end from run_contexts where run_id = $1`,
    [from, to, keepsFiles],
  );
  await copyTurns(em, { from, to, last: turns - 1, keepsFiles });
  // The step `discussion` names the images of the first messages, which are downloaded again.
  await em.query(
    `insert into run_steps (run_id, name, data, at)
     select $2, name, data, at from run_steps
     where run_id = $1 and (name = 'discussion' or starts_with(name, $6) or $3 and
       (name in ('branch', $4, $5) or starts_with(name, 'branch ') or starts_with(name, $4 || ' ')))`,
    [from, to, keepsFiles, earlierStep, droppedStep, openedPrefix],
  );
  return { turns, filesSince: keepsFiles ? await filesSinceIn(em, from) : turns };
}

/** A copied turn costs the new run nothing. */
async function copyTurns(
  em: EntityManager,
  { from, to, last, keepsFiles }: { from: string; to: string; last: number; keepsFiles: boolean },
): Promise<number> {
  const rows: unknown[] = await em.query(
    `insert into run_turns (run_id, turn, messages, workspace, at, input_tokens, cached_input_tokens, output_tokens,
       cost_usd, learned)
     select $2, turn, messages, case when $4 then workspace end, at, input_tokens * 0, cached_input_tokens * 0,
       output_tokens * 0, cost_usd * 0, learned
     from run_turns where run_id = $1 and turn <= $3 returning turn`,
    [from, to, last, keepsFiles],
  );
  return rows.length;
}

/**
 * Copies the conversation of a run up to a turn (numbered from 0) to a run that goes on from there, with the files as
 * they were and what its prompts left out then. Returns undefined when not everything is kept any more; then the caller
 * has to undo what was copied.
 */
export async function copyUpTo(em: EntityManager, from: string, last: number, to: string): Promise<Copied | undefined> {
  // An older version kept only the newest state of the files. A run that stored too much has dropped older ones.
  const contexts: unknown[] = await em.query(
    `insert into run_contexts (run_id, opening, cut, limit_chars, workspace)
     select $2, c.opening, l.learned->'cut', (l.learned->>'limitChars')::int, c.workspace
     from run_contexts c left join lateral (
       select learned from run_turns
       where run_id = $1 and turn <= $3 and learned is not null order by turn desc limit 1) l on true
     where c.run_id = $1 and not exists (
       select 1 from run_turns where run_id = $1 and turn > $3 and workspace is not null and input_tokens is null)
       and not exists (select 1 from run_steps where run_id = $1 and name = $4 and (data->>'turn')::int > $3)
     returning run_id`,
    [from, to, last, droppedStep],
  );
  const turns = await copyTurns(em, { from, to, last, keepsFiles: true });
  if (contexts.length === 0 || turns !== last + 1) return undefined;
  // A repository counts as open if it was opened before the end of the turn, in this run or in one that it goes back to.
  await em.query(
    `insert into run_steps (run_id, name, data, at)
     select $2, place, (array_agg(data order by name))[1], min(at) from (
       select name, data, at, case when starts_with(name, 'branch') then $4 || substr(name, 7) else name end as place
       from run_steps where run_id = $1 and (name in ('branch', $4) or starts_with(name, 'branch ')
         or starts_with(name, $4 || ' '))) s
     group by place
     having place = $4 or min(at) <= (select at from run_turns where run_id = $1 and turn = $3)
     union all
     select $2, name, data, at from run_steps where run_id = $1 and (name in ('discussion', $5)
       or starts_with(name, $6) and at <= (select at from run_turns where run_id = $1 and turn = $3))`,
    [from, to, last, earlierStep, droppedStep, openedPrefix],
  );
  return { turns, filesSince: await filesSinceIn(em, from) };
}

/** A turn of a run, and where its files are. */
export interface Point {
  runId: string;
  taskId: string;
  /** How many turns the run had, even if they are no longer kept. */
  turns: number;
  /** The run with which the files of the turn are stored: the run, or one whose conversation it took up. */
  keptBy: string;
}

/** Returns the ids of the repositories whose content a run had at the end of a turn, without that of its task. */
export async function listOpenedBy(em: EntityManager, { keptBy }: Point, turn: number, ownId: string | null) {
  const rows: { name: string }[] = await em.query(
    `select name from run_steps where run_id = $1 and starts_with(name, $2)
       and at <= (select at from run_turns where run_id = $1 and turn = $3)`,
    [keptBy, openedPrefix, turn],
  );
  return rows.map(({ name }) => name.slice(openedPrefix.length)).filter((id) => id !== ownId);
}

/**
 * Makes the repositories that a run has opened count as open at the end of a turn, because its messages may repeat what is in
 * them. Otherwise, somebody without rights there could go back to this turn and get that text.
 */
export async function countAsOpenIn(em: EntityManager, runId: string, turn: number): Promise<void> {
  await em.query(
    `update run_steps s set at = least(s.at, t.at) from run_turns t
     where s.run_id = $1 and starts_with(s.name, $3) and t.run_id = $1 and t.turn = $2`,
    [runId, turn, openedPrefix],
  );
}

/** Conversations are taken up at most this many times. */
const maxDepth = 100;

/** Finds a turn (numbered from 0) of a run. Returns undefined for an unknown run. */
export async function findPoint(em: EntityManager, runId: string, turn: number): Promise<Point | undefined> {
  const [run]: { taskId: string; turns: number }[] = await em.query(
    `select r.task_id as "taskId", greatest(
       r.steps + coalesce((select (data->>'turns')::int from run_steps where run_id = r.id and name = $2), 0),
       (select coalesce(max(turn) + 1, 0) from run_turns where run_id = r.id)) as turns
     from runs r where r.id = $1`,
    [runId, copiedStep],
  );
  if (run === undefined) return undefined;
  let keptBy = runId;
  for (let depth = 0; depth < maxDepth; depth++) {
    const before = await runBefore(em, keptBy, turn);
    if (before === null) break;
    keptBy = before;
  }
  return { runId, ...run, keptBy };
}

/** Returns the run from which a run copied a turn without its files; null if the run has the files itself. */
async function runBefore(em: EntityManager, runId: string, turn: number): Promise<string | null> {
  if (turn >= (await filesSinceIn(em, runId))) return null;
  const rows: { before: string | null }[] = await em.query(
    'select continues_run_id as before from runs where id = $1',
    [runId],
  );
  return rows[0]?.before ?? null;
}

/** Returns the first turn, numbered from 0, whose files are stored with a run. */
async function filesSinceIn(em: EntityManager, runId: string): Promise<number> {
  // An older version did not store `filesSince`.
  const rows: { filesSince: number }[] = await em.query(
    `select coalesce((s.data->>'filesSince')::int, case when exists (
         select 1 from run_turns t
         where t.run_id = $1 and t.workspace is not null and t.turn < (s.data->>'turns')::int)
       then 0 else (s.data->>'turns')::int end) as "filesSince" /* not null */
     from run_steps s where s.run_id = $1 and s.name = $2`,
    [runId, copiedStep],
  );
  return rows[0]?.filesSince ?? 0;
}

/**
 * Returns the run whose conversation a new run of a task goes on with: after a retry the latest one, if a limit ended it
 * and the new run has the same agent. Null when the new run starts over.
 */
export async function runToTakeUp(
  em: EntityManager,
  taskId: string,
  { kind, agentId }: { kind: RunKind; agentId: string },
): Promise<string | null> {
  if (kind !== 'retry') return null;
  const [last] = await listRuns(em, taskId, { limit: 1, offset: 0 });
  const isContinued = last?.failure != null && endedByLimit(last.failure) && last.agentId === agentId;
  return isContinued ? last.id : null;
}
