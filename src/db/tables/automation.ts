import type { AutomationTask, Trigger } from '../../domain/automations/automation.ts';
import { flag, json, key, madeNow, maybeText, maybeTime, table, text, whole } from './table.ts';

/** Tasks that are created by themselves, at times or after events. */
export interface AutomationRow {
  id: string;
  projectId: string;
  name: string;
  /** When it makes a task: `on` in the API. */
  trigger: Trigger;
  task: AutomationTask;
  enabled: boolean;
  mostPerDay: number;
  /** Who made or last changed it. Its tasks use the rights of this person. Null for a deleted account. */
  changedBy: string | null;
  /** When it is due; null for events, and while it is switched off. */
  nextAt: Date | null;
  lastTaskId: string | null;
  lastAt: Date | null;
  lastProblem: string | null;
  /** Why the service switched it off; null otherwise. */
  pausedReason: string | null;
  pausedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}
export const Automations = table<AutomationRow>('automations', {
  id: key(),
  projectId: text(),
  name: text(),
  trigger: json(),
  task: json(),
  enabled: flag(true),
  mostPerDay: whole({ default: 10 }),
  changedBy: maybeText(),
  nextAt: maybeTime(),
  lastTaskId: maybeText(),
  lastAt: maybeTime(),
  lastProblem: maybeText(),
  pausedReason: maybeText(),
  pausedAt: maybeTime(),
  createdAt: madeNow(),
  updatedAt: madeNow(),
});
