import { infiniteQueryOptions } from '@tanstack/react-query';
import * as api from '../../api.ts';

/** Entries that are fetched at once. */
const pageSize = 20;

/** What happened to a task, newest first. An entry that newer ones move to the next page is included once. */
export const timeline = (taskId: string) =>
  infiniteQueryOptions({
    queryKey: ['timeline', taskId],
    queryFn: ({ pageParam: offset }) => api.listTaskTimeline(taskId, { limit: pageSize, offset }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
    select: ({ pages }) => [...new Map(pages.flat().map((entry) => [entry.id, entry])).values()],
  });
