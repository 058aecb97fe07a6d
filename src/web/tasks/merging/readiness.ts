import { queryOptions } from '@tanstack/react-query';
import * as api from '../../api.ts';
import { plural } from '../../display/formats.ts';

const methodNames = { squash: 'Squash and merge', merge: 'Merge', rebase: 'Rebase and merge' } as const;

export const pullName = ({ repositoryName, prNumber }: api.PullRequestReadiness) => `${repositoryName} #${prNumber}`;

export function mergeTitle({ pullRequests }: api.MergeReadiness): string {
  const [first] = pullRequests;
  return first !== undefined && pullRequests.length === 1
    ? `Merge ${pullName(first)}?`
    : `Merge ${plural(pullRequests.length, 'pull request')}?`;
}

/** Returns what a merge will do, one sentence for each step. */
export function mergeSteps({ pullRequests, dependents }: api.MergeReadiness): string[] {
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

/** More pull requests than this are counted. */
const maxNamed = 5;

/** Returns which other pull requests will probably conflict after a merge, and what Deckhand does about those of tasks. */
export function collisionSteps({ collisions }: Pick<api.Collisions, 'collisions'>): string[] {
  // A task with several pull requests may collide with one pull request twice.
  const others = [...new Map(collisions.map((each) => [each.otherUrl, each])).values()];
  const ofTasks = others.filter(({ otherTaskId }) => otherTaskId !== null);
  const ofOthers = others.filter(({ otherTaskId }) => otherTaskId === null);
  const isOne = ofTasks.length === 1;
  const whose = isOne ? 'its agent to resolve that, if the task is' : 'their agents to resolve that, if the tasks are';
  const names = (some: typeof others, nameOf: (each: (typeof others)[number]) => string) => {
    const [named, more] = [some.slice(0, maxNamed).map(nameOf), some.length - maxNamed];
    return new Intl.ListFormat('en').format(more > 0 ? [...named, plural(more, 'other')] : named);
  };
  const of = (count: number) => `will probably conflict with ${count === 1 ? 'its' : 'their'} base branch then`;
  return [
    ...(ofTasks.length > 0
      ? [
          `${names(ofTasks, (each) => `“${each.otherTitle}” (${otherPullName(each)})`)} ${of(ofTasks.length)}. Deckhand asks ${whose} in review.`,
        ]
      : []),
    ...(ofOthers.length > 0
      ? [
          `${names(ofOthers, (each) => `${otherPullName(each)}${each.otherAuthor === null ? '' : ` by ${each.otherAuthor}`}`)} ${of(ofOthers.length)}.`,
        ]
      : []),
  ];
}

export const otherPullName = (each: Pick<api.Collisions['collisions'][number], 'repositoryName' | 'otherNumber'>) =>
  `${each.repositoryName} #${each.otherNumber}`;

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
export function reviewText(reviews: NonNullable<api.PullRequestReadiness['reviews']>): string {
  const names = (state: string) => reviews.filter((review) => review.state === state).map(({ login }) => login);
  const [approved, requested] = [names('approved'), names('changes_requested')];
  const parts = [
    requested.length > 0 ? `${requested.join(', ')} requested changes` : '',
    approved.length > 0 ? `${approved.join(', ')} approved` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'No approvals on GitHub' : parts.join(' · ');
}

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
