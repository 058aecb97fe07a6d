import { AsyncLocalStorage } from 'node:async_hooks';
import type { EntityManager } from 'typeorm';
import type { Database } from '../db/database.ts';
import { type AuditAction, type AuditedType, type Changes, shownChanges, type Via } from '../domain/audit.ts';
import { insertAuditRecord } from './records.ts';

/** The object that a record is about. */
export interface AuditedObject {
  type: AuditedType;
  id: string;
  /** Null for what belongs to no project. */
  projectId: string | null;
}

/** An operation of a person. */
export interface Act {
  userId: string;
  via: Exclude<Via, 'system'>;
  action: AuditAction;
  /** Undefined until an operation has created its object. */
  object: AuditedObject | undefined;
  /**
   * For an operation that is repeated until all of it succeeds: notes in the transaction of a record without details that
   * there is one. Returns false if an earlier attempt has left it.
   */
  claim?: ((em: EntityManager) => Promise<boolean>) | undefined;
}

/** Something that happened to a task without being asked for. */
interface TaskEvent {
  taskId: string;
  projectId: string;
  event: string;
  changes: Changes;
}

/** The audit log: one record for each operation of a person and for each status that the system gives a task. */
export interface Audit {
  /**
   * Runs an operation. Its first transaction also writes its record, so both are committed or neither. Without a
   * transaction, the record is written at the end. No record is written if the operation throws, or if all it notes is
   * that nothing has changed.
   */
  during<T>(act: Act, work: () => Promise<T>): Promise<T>;
  /**
   * Adds what has changed to the record of the operation that calls this. An operation that notes nothing gets a record
   * without details; one that only notes `{}` gets none.
   */
  note(changes: Changes): void;
  /**
   * Names the object of the operation that calls this, which has created or found it, and the action if it has turned
   * out to be another.
   */
  about(object: AuditedObject, action?: AuditAction): void;
  /**
   * Runs a part of the operation that only looks how things are. Its transactions write the record only if they note a
   * change.
   */
  whileLooking<T>(work: () => Promise<T>): Promise<T>;
  /** Records what happened to a task: in the record of the operation on that task, otherwise in one of its own. */
  noteEvent(em: EntityManager, event: TaskEvent): Promise<void>;
}

interface Entry extends Act {
  changes: Changes | undefined;
  isWritten: boolean;
  /** See `whileLooking`. */
  isLooking: boolean;
  /** The operation has ended. What it left behind, such as a timer, is not part of it. */
  isOver: boolean;
}

/** Opens the audit log. `clean` removes secrets from a text. */
export function openAudit(db: Database, clean: (text: string) => string): Audit {
  const storage = new AsyncLocalStorage<Entry>();
  const current = () => {
    const entry = storage.getStore();
    return entry?.isOver ? undefined : entry;
  };
  const write = async (em: EntityManager, entry: Entry) => {
    const { userId, via, action, object, changes = {} } = entry;
    if (object === undefined) throw new Error(`the operation ${action} names no object for its audit record`);
    entry.isWritten = true;
    const { type, id, projectId } = object;
    const detail = shownChanges(changes, clean);
    if (Object.keys(detail).length === 0 && (await entry.claim?.(em)) === false) return;
    await insertAuditRecord(em, { projectId, actorId: userId, via, action, objectType: type, objectId: id, detail });
  };
  db.beforeCommit(async (em) => {
    const entry = current();
    if (entry?.object !== undefined && isDue(entry)) await write(em, entry);
  });
  return {
    during: (act, work) => {
      const entry: Entry = { ...act, changes: undefined, isWritten: false, isLooking: false, isOver: false };
      return storage.run(entry, async () => {
        try {
          const result = await work();
          if (isDue(entry)) await db.transaction((em) => write(em, entry));
          return result;
        } finally {
          entry.isOver = true;
        }
      });
    },
    note: (changes) => {
      const entry = current();
      if (entry !== undefined) entry.changes = merged(entry.changes, changes);
    },
    about: (object, action) => {
      const entry = current();
      if (entry !== undefined) Object.assign(entry, { object, action: action ?? entry.action });
    },
    whileLooking: async (work) => {
      const entry = current();
      if (entry === undefined) return work();
      entry.isLooking = true;
      try {
        return await work();
      } finally {
        entry.isLooking = false;
      }
    },
    noteEvent: async (em, { taskId, projectId, event, changes }) => {
      const entry = current();
      const isPart = entry?.object?.type === 'task' && entry.object.id === taskId && !entry.isWritten;
      if (isPart) entry.changes = merged(entry.changes, changes);
      else
        await insertAuditRecord(em, {
          projectId,
          actorId: null,
          via: 'system',
          action: `task.${event}`,
          objectType: 'task',
          objectId: taskId,
          detail: shownChanges(changes, clean),
        });
    },
  };
}

function isDue({ changes, isWritten, isLooking }: Entry): boolean {
  return !isWritten && (changes === undefined ? !isLooking : Object.keys(changes).length > 0);
}

/** Adds changes to earlier ones. A field that changed twice keeps the value that it had first. */
function merged(before: Changes | undefined, changes: Changes): Changes {
  const all = { ...before };
  for (const [name, [old, now]] of Object.entries(changes)) all[name] = [all[name]?.[0] ?? old, now];
  return all;
}
