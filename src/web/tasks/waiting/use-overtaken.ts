import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import * as queries from '../../live/queries.ts';
import { timeline } from '../timeline/timeline-query.ts';
import { isOvertaken, overtakenText, type Standing } from './overtaken.ts';

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
