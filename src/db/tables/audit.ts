import type { ShownChanges, Via } from '../../domain/audit.ts';

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
