import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import { UnfitWorkTree } from '../../git/work-tree/unfit-work-tree.ts';
import type { Reply } from '../../llm/model.ts';
import { costOf } from '../../llm/pricing.ts';
import { showTask } from '../../tasks/move.ts';
import { insertTurn } from '../lease/turn-store.ts';
import { addUsage } from '../store.ts';
import type { Hearing } from '../waiting/hearing.ts';
import { holdChange } from '../waiting/held-change-store.ts';
import { park } from '../waiting/park.ts';
import type { Work } from '../work.ts';
import type { OpenRepositories } from '../workspace/open-repositories.ts';
import { dropStoredFiles, packFiles, storedBytes } from '../workspace/stored-files.ts';
import type { Assignment } from './assignment.ts';
import type { Memory } from './context/memory.ts';
import type { Trees } from './ending/ending.ts';
import type { LoopContext } from './loop.ts';

interface Keeping {
  repositories: OpenRepositories;
  hearing: Hearing;
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
      await addUsage(em, run.id, usage);
      if (wait === undefined) await showTask(app, em, task.id);
      else await park(app, em, run, { ...wait, id: newId('wait'), seconds: null });
      if (wait !== undefined && 'held' in wait) await holdChange(em, run, wait.held.wanted, wait.held.diff);
    });
    markStored();
    known = JSON.stringify(learned);
    count += 1;
  };
  return { keep, count: () => count };
}

export function usageOf(app: App, { model }: Assignment, reply: Reply) {
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
