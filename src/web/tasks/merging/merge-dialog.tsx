import { Dialog, Flash } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Collisions, MergeReadiness, MergeTask, Task } from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { QueryResult } from '../../display/query-result.tsx';
import * as queries from '../../live/queries.ts';
import { writtenComments } from '../review/review.ts';
import { useReview } from '../review/stored-review.ts';
import { useOvertaken } from '../timeline/overtaken.ts';
import { ProblemList } from './problem-list.tsx';
import { collisionSteps, mergeReadiness, mergeSteps, mergeTitle } from './readiness.ts';

/**
 * Shows what a merge will do and its problems, before a person merges. Stays open while GitHub merges, and if the
 * merge is refused.
 */
export function MergeDialog(props: {
  task: Pick<Task, 'id' | 'title'>;
  /** Merges these heads, now or when they are ready. Rejects when that is refused, after telling the person why. */
  onMerge(heads: MergeTask['heads'], when: MergeTask['when']): Promise<unknown>;
  onClose(): void;
}) {
  const { task, onMerge, onClose } = props;
  const query = useQuery(mergeReadiness(task.id));
  // A merge changes what can be merged, so the dialog shows what the person has agreed to until it is over.
  const [agreed, setAgreed] = useState<MergeReadiness>();
  const [busy, setBusy] = useState<MergeTask['when']>();
  const isBusy = busy !== undefined;
  // What the person looks at: the first answer since the dialog opened, because the page may have kept an older one. Pushes
  // after that are not part of it, although the page learns of them.
  const [openedAt] = useState(() => Date.now());
  const [seen, setSeen] = useState<MergeReadiness>();
  const isCurrent = query.dataUpdatedAt >= openedAt;
  if (seen === undefined && isCurrent && query.data !== undefined) setSeen(query.data);
  const data = isBusy ? agreed : query.data;
  const { data: collisions } = useQuery({ ...queries.collisions(task.id), enabled: !isBusy });
  const problems = data?.problems ?? [];
  const decided = useOvertaken(task.id);
  const overtaken = isBusy ? undefined : decided;
  const isBlocked = overtaken !== undefined || problems.some(({ blocks }) => blocks);
  // If the readiness cannot be read, the service still refuses what cannot be merged.
  const isUnread = seen === undefined && query.error === null;
  // An inactive button can have the focus, so Tab reaches it as soon as the dialog is open.
  const unread = { inactive: isUnread, 'aria-disabled': isUnread };
  const merge = async (when: When) => {
    if (isUnread) return early.press(when);
    setAgreed(data);
    setBusy(when);
    try {
      await onMerge(
        seen?.pullRequests.map(({ prUrl, headSha }) => ({ prUrl, headSha })),
        when,
      );
      onClose();
    } catch {
      setBusy(undefined);
      setSeen((await query.refetch()).data);
    }
  };
  const early = useEarlyPress(query.data, seen, merge);
  return (
    <Dialog
      role="alertdialog"
      title={data === undefined ? 'Merge pull requests?' : mergeTitle(data)}
      subtitle={<bdi className="wrap">{task.title}</bdi>}
      width="large"
      onClose={onClose}
      footerButtons={[
        { content: 'Cancel', autoFocus: true, onClick: onClose },
        {
          content: 'Merge when ready',
          loading: early.isGoing('ready', busy),
          disabled: isBlocked || busy === 'now',
          ...unread,
          onClick: () => void merge('ready'),
        },
        {
          content: problems.length > 0 && !isBlocked ? 'Merge anyway' : 'Merge',
          buttonType: 'primary',
          loading: early.isGoing('now', busy),
          disabled: isBlocked || busy === 'ready',
          ...unread,
          onClick: () => void merge('now'),
        },
      ]}
    >
      {overtaken === undefined ? (
        <QueryResult query={{ ...query, data }} rows={3}>
          {(readiness) => <Explanation readiness={readiness} collisions={collisions} isBlocked={isBlocked} />}
        </QueryResult>
      ) : (
        <Flash variant="warning" role="alert">
          <bdi>{overtaken}</bdi>
        </Flash>
      )}
      {isUnread && <p className="muted">You can merge once the state of the pull request has been read.</p>}
      <LastFailure taskId={task.id} />
      <UnsentComments taskId={task.id} />
    </Dialog>
  );
}

type When = NonNullable<MergeTask['when']>;

/**
 * Remembers that somebody presses a button while the state is being read, and presses it then, if that is what the page has shown
 * all along: the same commits, and nothing that speaks against them. Otherwise the person has to look at it first.
 */
function useEarlyPress(
  known: MergeReadiness | undefined,
  seen: MergeReadiness | undefined,
  merge: (when: When) => Promise<void>,
) {
  const [shown] = useState(known);
  const [pressed, setPressed] = useState<When>();
  const headsOf = (readiness: MergeReadiness) => readiness.pullRequests.map(({ headSha }) => headSha).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the press counts when the state has been read
  useEffect(() => {
    if (seen === undefined || pressed === undefined) return;
    setPressed(undefined);
    if (shown !== undefined && headsOf(shown) === headsOf(seen) && seen.problems.length === 0) void merge(pressed);
  }, [seen]);
  return { press: setPressed, isGoing: (when: When, busy: When | undefined) => busy === when || pressed === when };
}

/** Warns that the last run failed: the pull request then lacks what that run was asked for. */
function LastFailure({ taskId }: { taskId: string }) {
  const { data: task } = useQuery(queries.task(taskId));
  if (!task?.failure) return null;
  return (
    <p className="strong">
      The last run of this task failed, so what it was asked for is not part of the pull request.
    </p>
  );
}

/** Warns about unsent comments on the diff, which the agent will not see. */
function UnsentComments({ taskId }: { taskId: string }) {
  const [review] = useReview(taskId);
  const count = writtenComments(review).length;
  if (count === 0) return null;
  return (
    <p className="strong">
      {plural(count, 'comment')} of yours {count === 1 ? 'has' : 'have'} not been sent. “Request changes” sends{' '}
      {count === 1 ? 'it' : 'them'}.
    </p>
  );
}

function Explanation(props: { readiness: MergeReadiness; collisions: Collisions | undefined; isBlocked: boolean }) {
  const { readiness, collisions, isBlocked } = props;
  const { problems } = readiness;
  return (
    <div className="stack">
      {!isBlocked && (
        <ol className="steps" aria-label="What will happen">
          {[...mergeSteps(readiness), ...(collisions ? collisionSteps(collisions) : [])].map((step) => (
            <li key={step} className="wrap">
              <bdi>{step}</bdi>
            </li>
          ))}
        </ol>
      )}
      {problems.length > 0 && (
        <div>
          <p className="strong">{isBlocked ? 'This cannot be merged now' : 'This has problems, but can be merged'}</p>
          <ProblemList problems={problems} />
        </div>
      )}
      {!isBlocked && (
        <p className="muted">
          “Merge when ready” leaves the merge to GitHub, which waits for the required checks and reviews.
        </p>
      )}
    </div>
  );
}
