/** How a change reached the service: through the API, from GitHub, or as a consequence that nobody asked for. */
export const vias = ['token', 'session', 'comment', 'label', 'review', 'system'] as const;
export type Via = (typeof vias)[number];

/** What the records of the audit log are about. */
export type AuditedType =
  | 'agent'
  | 'issue'
  | 'member'
  | 'project'
  | 'reconciliation'
  | 'repository'
  | 'secret'
  | 'sprint'
  | 'task'
  | 'token'
  | 'wizard';

/** What happened, beginning with the type of the object to which the operation belongs: `task.start`. */
export type AuditAction = `${AuditedType}.${string}`;

/** Returns the type of object that an action belongs to. */
export function typeOfAction(action: AuditAction): AuditedType {
  return action.slice(0, action.indexOf('.')) as AuditedType;
}
