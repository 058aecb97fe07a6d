import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import type { Trees } from '../conversation/ending.ts';
import type { LoopContext } from '../conversation/loop.ts';
import type { Learned, Memory } from '../conversation/memory.ts';
import { newId } from '../db/ids.ts';
import { storableJson } from '../domain/text/sanitize.ts';
import { UnfitWorkTree } from '../git/work-tree/read-inside.ts';
import type { Message, ModelAnswer } from '../llm/model.ts';
import { costOf } from '../llm/usage.ts';
import { countTurn } from '../runs/store.ts';
import { insertTurn } from '../runs/taking-up/turn-store.ts';
import { park } from '../runs/waiting/park.ts';
import { holdChange } from '../runs/waiting/store.ts';
import { queueMirror } from '../tasks/move.ts';
import type { MessageInbox } from './waits.ts';
import type { Assignment, Work } from './work.ts';
import type { OpenRepositories } from './workspace/open-repositories.ts';
import { packFiles } from './workspace/pack-files.ts';
import { dropStoredFiles, storedBytes } from './workspace/stored-files.ts';

export interface StoredContext extends Learned {
  opening: Message[];
}

/** Returns the first messages of a run's conversation, and what its prompts leave out. */
export async function findContext(em: EntityManager, runId: string): Promise<StoredContext | undefined> {
  const rows: { opening: Message[]; cut: StoredContext['cut'] | null; limitChars: number | null }[] = await em.query(
    'select opening, cut, limit_chars as "limitChars" from run_contexts where run_id = $1',
    [runId],
  );
  const [row] = rows;
  return row && { opening: row.opening, cut: row.cut ?? undefined, limitChars: row.limitChars ?? undefined };
}

/** Stores how a conversation begins. `workspace` are the packed files that it begins with besides those of its commit. */
export async function insertContext(
  em: EntityManager,
  runId: string,
  opening: Message[],
  workspace: Buffer | null = null,
): Promise<void> {
  await em.query('insert into run_contexts (run_id, opening, workspace) values ($1, $2, $3)', [
    runId,
    storableJson(opening),
    workspace,
  ]);
}

export async function updateContext(em: EntityManager, runId: string, { cut, limitChars }: Learned): Promise<void> {
  await em.query('update run_contexts set cut = $2, limit_chars = $3 where run_id = $1', [
    runId,
    cut === undefined ? null : storableJson(cut),
    limitChars ?? null,
  ]);
}

/** Deletes the contexts of runs that ended this many days ago. Returns the number deleted. */
export async function deleteOldContexts(em: EntityManager, days: number, limit: number): Promise<number> {
  const [, count]: [unknown, number] = await em.query(
    `delete from run_contexts where run_id in (
       select c.run_id from run_contexts c join runs r on r.id = c.run_id
       where r.finished_at < now() - make_interval(days => $1) limit $2)`,
    [days, limit],
  );
  return count;
}

interface Keeping {
  repositories: OpenRepositories;
  hearing: MessageInbox;
  memory: Memory;
  turnsBefore: number;
  /** Returns the trees that were judged, once the ending of this turn was accepted. */
  judged(): Trees | undefined;
  /** Called before storing a turn after which the run waits. */
  beforeWait(): Promise<void>;
}

/**
 * Stores the turns of a conversation, each with the files that it changed, so that another worker or a later run can
 * continue.
 */
export function openTurns(app: App, given: Assignment, work: Work, keeping: Keeping) {
  const { run, task } = given;
  const { repositories, hearing, memory } = keeping;
  const mode = work.planning?.mode ?? 'never';
  let count = keeping.turnsBefore;
  let known = JSON.stringify({});
  const keep: LoopContext['keep'] = async (messages, reply, changed, wait) => {
    if (wait !== undefined) await keeping.beforeWait();
    const judged = keeping.judged();
    // What commands write before the plan is approved is discarded. A worker that takes over pushes what was judged.
    const isStored = mode !== 'always' && (changed || judged !== undefined);
    const isFull = isStored && (await storedBytes(app.db.manager, run.id)) > maxStoredBytes;
    const { workspace, markStored, isPacked } = isStored
      ? await packChanges(repositories, isFull ? 'whole' : 'last', judged)
      : nothing;
    const usage = usageOf(app, given, reply);
    const learned = { cut: memory.cut, limitChars: memory.limitChars };
    const isNew = JSON.stringify(learned) !== known;
    await work.journal.write(async (em) => {
      if (isFull && isPacked) await dropStoredFiles(em, run.id, count);
      await insertTurn(em, run.id, count, { messages, workspace, usage, ...(isNew ? { learned } : {}) });
      await hearing.markRead(em, count);
      await countTurn(em, run.id);
      if (wait === undefined) await queueMirror(app, em, task.id);
      else await park(app, em, run, { ...wait, id: newId('wait'), seconds: null });
      if (wait !== undefined && 'held' in wait) await holdChange(em, run, wait.held.wanted, wait.held.diff);
    });
    markStored();
    known = JSON.stringify(learned);
    count += 1;
  };
  return { keep, count: () => count };
}

function usageOf(app: App, { model }: Assignment, reply: ModelAnswer) {
  return { ...reply, costUsd: costOf(app.config.MODEL_PRICES, model.name, reply) };
}

const nothing = { workspace: null, markStored: () => {}, isPacked: false };

/**
 * Beyond this many compressed bytes a turn stores all changed files, and those of the turns before are dropped, so that
 * a file that is written again in each turn does not fill the database.
 */
const maxStoredBytes = 100_000_000;

/**
 * Packs the files that changed since the last stored turn. While the work tree cannot be pushed, it packs nothing: a later
 * turn includes these changes. If the work tree stays that way, the end of the run reports it.
 */
async function packChanges(
  repositories: OpenRepositories,
  since: 'last' | 'whole',
  judged: Trees | undefined,
): Promise<{ workspace: Buffer | null; markStored(): void; isPacked: boolean }> {
  try {
    const { files, markStored } = await repositories.changes(since, judged);
    return { workspace: await packFiles(files), markStored, isPacked: true };
  } catch (error) {
    if (error instanceof UnfitWorkTree) return nothing;
    throw error;
  }
}
