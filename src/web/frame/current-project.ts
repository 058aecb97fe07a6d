import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { useParams } from 'react-router';
import * as queries from '../live/queries.ts';

/**
 * Returns the project of the current page. The addresses of tasks and sprints do not contain it. While one of them loads, it
 * is assumed to belong to the project of the page before, so that the event stream stays open.
 */
export function useCurrentProject(): string | undefined {
  const { projectId, taskId, sprintId } = useParams();
  const task = useQuery(queries.taskOfPage(taskId));
  const sprint = useQuery({ ...queries.sprint(sprintId ?? ''), enabled: sprintId !== undefined });
  const before = useRef<string>(undefined);
  const found = projectId ?? task.data?.projectId ?? sprint.data?.projectId;
  const current = found ?? (task.isLoading || sprint.isLoading ? before.current : undefined);
  before.current = current;
  return current;
}
