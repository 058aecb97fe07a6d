import type { SprintStatus } from '../../domain/sprint.ts';
import { big, json, key, madeNow, maybeText, maybeTime, table, text } from './table.ts';

interface SprintRow {
  id: string;
  projectId: string;
  name: string;
  goal: string;
  status: SprintStatus;
  startDate: string;
  endDate: string;
  startedBy: string | null;
  /** The people whose words its name and goal are. */
  directedBy: string[];
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
}
export const Sprints = table<SprintRow>('sprints', {
  id: key(),
  projectId: text(),
  name: text(),
  goal: text({ default: '' }),
  status: text(),
  startDate: { type: 'date' },
  endDate: { type: 'date' },
  startedBy: maybeText(),
  directedBy: json({ default: [] }),
  createdAt: madeNow(),
  startedAt: maybeTime(),
  endedAt: maybeTime(),
});

/** Reports of completed sprints: facts, and what the model says about them. */
interface DigestRow {
  sprintId: string;
  createdAt: Date;
  markdown: string;
  words: string;
  completed: unknown;
  carriedOver: unknown;
  failed: unknown;
  costUsd: number;
  /** The ids of the people whose words the report has; null for reports of older versions. */
  directedBy: string[] | null;
}
export const Digests = table<DigestRow>('digests', {
  sprintId: key(),
  createdAt: madeNow(),
  markdown: text(),
  words: text({ default: '' }),
  completed: json(),
  carriedOver: json(),
  failed: json(),
  costUsd: big({ type: 'numeric' }),
  directedBy: json({ nullable: true }),
});
