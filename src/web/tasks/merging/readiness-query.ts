import { queryOptions } from '@tanstack/react-query';
import * as api from '../../api.ts';

/** How often GitHub is asked again while checks run or it computes whether a pull request can be merged. */
const pollMs = 30_000;

/** What a merge of a task will do, and its problems. Deckhand has no events for GitHub's checks. */
export const mergeReadiness = (taskId: string) =>
  queryOptions({
    queryKey: ['merge-readiness', taskId],
    queryFn: () => api.getMergeReadiness(taskId),
    refetchInterval: ({ state }) => (state.data !== undefined && isUnsettled(state.data) ? pollMs : false),
  });

function isUnsettled({ pullRequests }: api.MergeReadiness): boolean {
  return pullRequests.some(
    ({ mergeable, checks, error }) =>
      error !== null || mergeable === null || (checks ?? []).some(({ outcome }) => outcome === 'running'),
  );
}
