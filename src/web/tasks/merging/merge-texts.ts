import type { MergeReadiness, PullRequestReadiness } from '../../api.ts';
import { plural } from '../../display/formats.ts';

const methodNames = { squash: 'Squash and merge', merge: 'Merge', rebase: 'Rebase and merge' } as const;

export const pullName = ({ repositoryName, prNumber }: PullRequestReadiness) => `${repositoryName} #${prNumber}`;

export function mergeTitle({ pullRequests }: MergeReadiness): string {
  const [first] = pullRequests;
  return first !== undefined && pullRequests.length === 1
    ? `Merge ${pullName(first)}?`
    : `Merge ${plural(pullRequests.length, 'pull request')}?`;
}

/** Returns what a merge will do, one sentence for each step. */
export function mergeSteps({ pullRequests, dependents }: MergeReadiness): string[] {
  const starting = dependents.filter(({ starts }) => starts).map(({ title }) => title);
  const waiting = dependents.length - starting.length;
  return [
    ...pullRequests.map((pull) => {
      const into = pull.baseBranch === null ? '' : ` into ${pull.baseBranch}`;
      return `${pull.method === null ? 'Merge' : methodNames[pull.method]} ${pullName(pull)}${into}.`;
    }),
    'The task moves to Done.',
    ...starting.map((title) => `“${title}” starts, because it depends on this task.`),
    ...(waiting > 0 ? [`${plural(waiting, 'other task')} no longer ${waiting === 1 ? 'waits' : 'wait'} for it.`] : []),
  ];
}

/** Counts checks by their outcome: `3 passed, 1 failed`. */
export function checkCounts(checks: { outcome: 'passed' | 'failed' | 'running' | 'skipped' }[]): string {
  const outcomes = ['failed', 'running', 'passed', 'skipped'] as const;
  const counts = outcomes.map((outcome) => [checks.filter((check) => check.outcome === outcome).length, outcome]);
  return counts
    .filter(([count]) => count !== 0)
    .map(([count, outcome]) => `${count} ${outcome}`)
    .join(', ');
}

/** Says in one line what reviewers decided. */
export function reviewText(reviews: NonNullable<PullRequestReadiness['reviews']>): string {
  const names = (state: string) => reviews.filter((review) => review.state === state).map(({ login }) => login);
  const [approved, requested] = [names('approved'), names('changes_requested')];
  const parts = [
    requested.length > 0 ? `${requested.join(', ')} requested changes` : '',
    approved.length > 0 ? `${approved.join(', ')} approved` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'No reviews on GitHub' : parts.join(' · ');
}
