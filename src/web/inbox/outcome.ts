import type { InboxReason } from '../../domain/notices/reasons.ts';
import type { InboxEntry, Task } from '../api.ts';
import { taskStatusNames } from '../display/names.ts';

/** An entry about a task. */
export type TaskEntry = InboxEntry & { taskId: string; reason: InboxReason };

export function isAboutTask(entry: InboxEntry): entry is TaskEntry {
  return entry.taskId !== null;
}

type Key = Pick<InboxEntry, 'taskId' | 'automationId' | 'projectId' | 'title' | 'reason' | 'since'>;

/** Identifies what an entry is about: a task, or something of a project. */
export function subjectOf({ taskId, automationId, projectId, title }: Omit<Key, 'reason' | 'since'>): string {
  return taskId ?? automationId ?? `${projectId} ${title}`;
}

/** Identifies what a task needs now. A second plan of the same task is another entry. */
export function keyOf(entry: Key): string {
  return `${subjectOf(entry)} ${entry.reason} ${entry.since}`;
}

/** Returns the entries that were not there before. */
export function newEntries<Entry extends Key>(before: Iterable<Key>, now: Entry[]): Entry[] {
  const known = new Set(Array.from(before, keyOf));
  return now.filter((entry) => !known.has(keyOf(entry)));
}

/** Splits entries into those that were shown and those that wait. If none of them was shown, all are. */
export function heldBack<Entry extends Key>(known: ReadonlySet<string>, now: Entry[]) {
  const shown = now.filter((entry) => known.has(keyOf(entry)));
  if (shown.length === 0) return { shown: now, waiting: [] };
  return { shown, waiting: now.filter((entry) => !known.has(keyOf(entry))) };
}

/** Returns the entries whose tasks no longer need anybody. A task that needs something else now is still in the inbox. */
export function departedEntries<Entry extends Key>(before: Entry[], now: Key[]): Entry[] {
  const remaining = new Set(now.map(subjectOf));
  return before.filter((entry) => !remaining.has(subjectOf(entry)));
}

/**
 * Says what became of a task that needed a person. `task` is undefined when it was deleted, and `me` is the id of the person
 * who is told.
 */
export function outcomeOf(entry: Pick<InboxEntry, 'title' | 'reason'>, task: Task | undefined, me?: string): string {
  const { title, reason } = entry;
  if (task === undefined) return `“${title}” was deleted.`;
  if (isOfOthers(task, me) && stillNeeds(entry, task)) return `Somebody else is responsible for “${title}” now.`;
  switch (task.status) {
    case 'in_progress':
      return reason === 'review' || reason === 'failed'
        ? `An agent works on “${title}” again.`
        : `The run of “${title}” continues.`;
    case 'in_review':
      return `“${title}” is ready for review.`;
    default:
      return `“${title}” is now in ${taskStatusNames[task.status]}.`;
  }
}

function isOfOthers({ responsible }: Task, me: string | undefined): boolean {
  return me !== undefined && responsible !== null && responsible !== me;
}

/** Returns whether a task still needs what an entry says. */
function stillNeeds({ reason }: Pick<InboxEntry, 'reason'>, { status, failure, attention }: Task): boolean {
  if (reason === 'review') return status === 'in_review';
  return reason === 'failed' ? failure !== null : attention?.reason === reason;
}
