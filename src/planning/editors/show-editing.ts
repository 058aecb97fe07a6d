import { setTimeout } from 'node:timers/promises';
import type { App } from '../../app.ts';
import type { PlanPart } from '../../domain/wizard.ts';
import type { EventStream } from '../../http/events.ts';
import type { Session } from '../session.ts';
import { deleteEditor, type Editor, upsertEditor } from './store.ts';

/** Interval at which an open stream confirms that its person is still there. */
const confirmMs = 20_000;

/**
 * Shows the other members of the project that a person edits a part of a plan, for as long as the person's stream is open.
 * If the process dies, they see it for another minute.
 */
export async function showEditing(
  app: App,
  session: Session,
  { userId, part }: { userId: string; part: PlanPart },
  out: EventStream,
): Promise<void> {
  const editor: Editor = { sessionId: session.id, userId, part };
  await upsertEditor(app.db.manager, editor);
  out.begin();
  try {
    while (!out.signal.aborted) {
      await setTimeout(confirmMs, undefined, { signal: out.signal }).catch(() => undefined);
      if (!out.signal.aborted) await upsertEditor(app.db.manager, editor);
    }
  } finally {
    await deleteEditor(app.db.manager, editor);
  }
}
