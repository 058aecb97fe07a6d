import type { ShownChanges, Via } from '../../domain/audit.ts';
import { big, json, key, maybeText, table, text, time } from './table.ts';

/** The audit log. The database refuses to change a record, and to delete one before its time. */
export interface AuditRecordRow {
  id: string;
  number: number;
  at: Date;
  /** Null for what belongs to no project, such as a person's own tokens and agents. */
  projectId: string | null;
  actorId: string | null;
  /** The login at the time. */
  actorLogin: string | null;
  via: Via;
  action: string;
  objectType: string;
  objectId: string;
  detail: ShownChanges;
}
export const AuditRecords = table<AuditRecordRow>('audit_records', {
  id: key(),
  number: big({ generated: true }),
  at: time({ default: () => 'clock_timestamp()' }),
  projectId: maybeText(),
  actorId: maybeText(),
  actorLogin: maybeText(),
  via: text(),
  action: text(),
  objectType: text(),
  objectId: text(),
  detail: json({ default: {} }),
});
