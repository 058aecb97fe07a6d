import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Task, TimelineEntry } from '../../api.ts';
import { taskStatusNames } from '../../display/names.ts';
import * as queries from '../../live/queries.ts';
import { timeline, timelineText } from './timeline-texts.ts';

/** What a dialog about a task depends on. If it changes while the dialog is open, somebody else was first. */
export type Standing = Pick<Task, 'status' | 'updatedAt'> & {
  /** What the dialog decides about; null if it does not depend on what the run waits for. */
  attention: Pick<NonNullable<Task['attention']>, 'id' | 'since'> | null;
};

/** Returns whether somebody has decided about a task since a dialog about it was opened. */
export function isOvertaken(before: Standing, now: Pick<Task, 'status' | 'attention'>): boolean {
  if (before.status !== now.status) return true;
  return before.attention !== null && before.attention.id !== now.attention?.id;
}

/** What people do that leaves open what the task waits for. */
const remarks = ['created', 'say', 'add_subtask'];

/** Says who has decided about a task since, and what. `entries` are those of its timeline, newest first. */
export function overtakenText(
  before: Standing,
  now: Pick<Task, 'status'>,
  entries: TimelineEntry[],
  me: string | undefined,
): string {
  const since = Date.parse(before.attention?.since ?? before.updatedAt);
  const decision = entries.findLast(
    ({ at, type, actor, changes }) =>
      Date.parse(at) > since &&
      actor !== null &&
      !remarks.includes(type) &&
      (type !== 'update' || changes.status !== undefined),
  );
  if (decision?.actor == null) return `Nothing is left to decide here. The task is now ${taskStatusNames[now.status]}.`;
  const { who, what } = timelineText(decision);
  return `${decision.actor.id === me ? 'You' : who} ${what} while this was open.`;
}

/**
 * Says who has decided about a task since the dialog that calls this was opened; undefined while nobody has. A dialog that
 * `outlivesWaits` depends on the status of the task alone.
 */
export function useOvertaken(taskId: string, outlivesWaits = false): string | undefined {
  const { data: me } = useQuery(queries.me());
  const { data: task } = useQuery({ ...queries.task(taskId), refetchOnMount: false });
  const before = useRef<Standing>(undefined);
  before.current ??= task && (outlivesWaits ? { ...task, attention: null } : task);
  const isOver = task !== undefined && before.current !== undefined && isOvertaken(before.current, task);
  const { data: entries = [] } = useInfiniteQuery({ ...timeline(taskId), enabled: isOver });
  return isOver && before.current !== undefined ? overtakenText(before.current, task, entries, me?.id) : undefined;
}
