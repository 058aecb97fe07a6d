import { storableText } from './text/sanitize.ts';

/** How a change reached the service: through the API, from GitHub, or as a consequence that nobody asked for. */
export const vias = ['token', 'session', 'mcp', 'comment', 'label', 'review', 'issue', 'system'] as const;
export type Via = (typeof vias)[number];

/** What the records of the audit log are about. */
export type AuditedType =
  | 'agent'
  | 'automation'
  | 'issue'
  | 'member'
  | 'project'
  | 'reconciliation'
  | 'repository'
  | 'secret'
  | 'sprint'
  | 'task'
  | 'token'
  | 'user'
  | 'webhook'
  | 'wizard';

/** What happened, beginning with the type of the object to which the operation belongs: `task.start`. */
export type AuditAction = `${AuditedType}.${string}`;

/** Returns the type of object that an action belongs to. */
export function typeOfAction(action: AuditAction): AuditedType {
  return action.slice(0, action.indexOf('.')) as AuditedType;
}

/** Fields with their values before and after; null or undefined for none. */
export type Changes = Record<string, readonly [before: unknown, after: unknown]>;

type Shown = string | number | boolean | null;
export type ShownChanges = Record<string, [before: Shown, after: Shown]>;

/** Longer texts are cut: the log tells that a description has changed, and is no copy of it. */
const maxText = 200;
/** What people say to the agent is kept in full, because the timeline of the task shows it. */
const said = new Set(['answer', 'request', 'said', 'instructions', 'changedPlan']);

/** Returns the fields with these names whose values differ. */
export function changesBetween<T extends object>(before: T, after: T, names: readonly (keyof T & string)[]): Changes {
  const differ = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(differ.map((name) => [name, [before[name], after[name]] as const]));
}

/** Converts changes to the form that is stored. `clean` removes secrets; it gets each text before it is cut. */
export function shownChanges(changes: Changes, clean: (text: string) => string): ShownChanges {
  const shown = (name: string, value: unknown): Shown => {
    if (value === null || value === undefined) return null;
    if (typeof value === 'number' || typeof value === 'boolean') return value;
    const text = storableText(clean(typeof value === 'string' ? value : JSON.stringify(value)));
    return said.has(name) ? text : cut(text);
  };
  return Object.fromEntries(Object.entries(changes).map(([name, [a, b]]) => [name, [shown(name, a), shown(name, b)]]));
}

function cut(text: string): string {
  return text.length <= maxText ? text : `${text.slice(0, maxText - 1).toWellFormed()}…`;
}
