import { useEffect, useRef } from 'react';
import type { InboxEntry } from '../api.ts';
import { plural } from '../display/formats.ts';
import { notify } from '../frame/notices.tsx';
import { departedEntries, outcomeOf } from './outcome.ts';
import { findTask, takeAnnounced } from './use-decision.ts';

/** If more entries than this disappear at the same time, one notice counts them. */
const maxNotices = 2;

/** Says what became of entries that somebody else decided while the inbox is open. */
export function useDepartures(entries: InboxEntry[]): void {
  const before = useRef(entries);
  useEffect(() => {
    const departed = departedEntries(before.current, entries).filter((entry) => !takeAnnounced(entry));
    before.current = entries;
    if (departed.length > maxNotices) return notify(`${plural(departed.length, 'task')} no longer need you.`);
    for (const entry of departed)
      findTask(entry.taskId).then(
        (task) => notify(outcomeOf(entry, task)),
        () => notify(`“${entry.title}” no longer needs you.`),
      );
  }, [entries]);
}
