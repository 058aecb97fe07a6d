import { Label } from '@primer/react';
import type { ReviewComment } from '../../api.ts';
import { Markdown } from '../../display/markdown.tsx';
import { TimeAgo } from '../../display/times.tsx';
import { type DiffLine, placeOf } from './review.ts';

const stateNames = { open: 'Open', addressed: 'Addressed', outdated: 'Outdated' } as const;
const stateVariants = { open: 'attention', addressed: 'success', outdated: 'secondary' } as const;

/** Returns the comments at a line of the diff. Those that are outdated are about a line that is no longer there. */
export function commentsAt(
  comments: ReviewComment[],
  { side, line }: Pick<DiffLine, 'side' | 'line'>,
): ReviewComment[] {
  return comments.filter((each) => each.state !== 'outdated' && each.side === side && each.line === line);
}

/** Shows what people wrote at one place of the diff, oldest first, and what the agent answered. */
export function Thread({ comments }: { comments: ReviewComment[] }) {
  const [first] = comments;
  if (first === undefined) return null;
  const place = placeOf({ ...first, line: first.line ?? 0 });
  return (
    <section className="line-comment stack tight" aria-label={`Thread on ${place.slice(0, 200)}`}>
      {comments.map((comment, i) => (
        <Comment key={comment.id} comment={comment} isAnswered={comments[i + 1]?.answer !== comment.answer} />
      ))}
      {comments.some(({ state }) => state === 'open') && comments.every(({ told }) => !told) && (
        <p className="muted small">
          The agent was not told. It follows reviews that request changes, by people with write permission.
        </p>
      )}
    </section>
  );
}

/** Commits are named in full for GitHub, which shortens them. */
const wholeCommit = /\b([0-9a-f]{7})[0-9a-f]{33}\b/g;

/** An answer is about all comments of its thread, so it is shown once, below the last of them. */
function Comment({ comment, isAnswered }: { comment: ReviewComment; isAnswered: boolean }) {
  const { author, at, text, state, answer } = comment;
  return (
    <div className="stack tight">
      <p className="row wrap-row">
        <bdi className="strong">{author}</bdi>
        <span className="muted small">
          <TimeAgo at={at} />
        </span>
        <Label variant={stateVariants[state]}>{stateNames[state]}</Label>
      </p>
      <Markdown text={text} />
      {answer !== null && isAnswered && (
        <div className="quoted">
          <p className="muted small">The agent answered</p>
          <Markdown text={answer.replace(wholeCommit, '$1')} />
        </div>
      )}
    </div>
  );
}

/** Shows the threads of a file whose place is not in the diff, or not shown there. */
export function OtherThreads({ comments }: { comments: ReviewComment[] }) {
  const places = Map.groupBy(comments, (each) => placeOf({ ...each, line: each.line ?? 0 }));
  return [...places].map(([place, here]) => (
    <div key={place}>
      <p className="muted small wrap">
        <bdi>{place}</bdi>
      </p>
      <Thread comments={here} />
    </div>
  ));
}
