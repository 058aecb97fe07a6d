import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { newId } from '../../db/ids.ts';
import type { RunRow } from '../../db/tables/task.ts';
import type { Message } from '../../llm/model.ts';
import type { Journal } from '../lease/journal.ts';
import { listUnread, markRead } from './message-store.ts';
import { park } from './park.ts';
import { Parked } from './parked.ts';
import { findPause } from './waiting-store.ts';

/** What people say to a run while its agent works, and whether they asked it to pause. */
export interface Hearing {
  /**
   * Returns the messages that the agent has not read yet.
   * @throws Parked when somebody asked the run to pause
   */
  hear(): Promise<Message[]>;
  /** Returns whether there are messages that the last `hear` did not return. */
  hasMore(): Promise<boolean>;
  /** Marks what the last `hear` returned as read before this turn. Call it in the transaction that stores the turn. */
  markRead(em: EntityManager, turn: number): Promise<void>;
}

export function openHearing(app: App, run: RunRow, journal: Journal): Hearing {
  let heard: string[] = [];
  return {
    hear: async () => {
      await pauseIfAsked(app, run, journal);
      const unread = await listUnread(app.db.manager, run.id);
      heard = unread.map(({ id }) => id);
      return unread.map(({ text }) => ({ role: 'user', content: text }));
    },
    hasMore: async () => (await listUnread(app.db.manager, run.id)).some(({ id }) => !heard.includes(id)),
    markRead: (em, turn) => markRead(em, heard, turn),
  };
}

/**
 * Lets a run wait if somebody asked it to pause.
 * @throws Parked in that case
 */
export async function pauseIfAsked(app: App, run: RunRow, journal: Journal): Promise<void> {
  if ((await findPause(app.db.manager, run.id)) === undefined) return;
  const isPaused = await journal.write(async (em) => {
    // Read again under the lock of the run, because the pause may have been withdrawn.
    const text = await findPause(em, run.id);
    if (text !== undefined)
      await park(app, em, run, { id: newId('wait'), reason: 'paused', text, options: [], seconds: null });
    return text !== undefined;
  });
  if (isPaused) throw new Parked();
}
