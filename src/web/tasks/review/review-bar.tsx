import { Button } from '@primer/react';
import { type ReactNode, useState } from 'react';
import * as api from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { useMay } from '../../forms/may.tsx';
import { notify } from '../../frame/notices.tsx';
import { useSteering } from '../actions/use-steering.ts';
import { CommentText } from './line-comments.tsx';
import { RequestChangesDialog } from './request-changes-dialog.tsx';
import {
  type DraftComment,
  isCurrent,
  isViewed,
  type Review,
  takesComments,
  withoutComment,
  writtenComments,
} from './review.ts';

/** Shows how far a person is with the review of a diff, and the button that sends its comments as one request. */
export function ReviewBar(props: {
  task: api.Task;
  diff: api.TaskDiff;
  review: Review;
  onChange(change: (before: Review) => Review): void;
  /** What stands at the beginning of the bar, and at its end. */
  summary: ReactNode;
  end: ReactNode;
}) {
  const { task, diff, review, onChange, summary, end } = props;
  const { mutateAsync } = useSteering(task);
  const [isAsking, setAsking] = useState(false);
  const comments = writtenComments(review);
  const viewed = diff.files.filter((file) => isViewed(review, file)).length;
  const obstacle = requestObstacle(task);
  const mayAsk = useMay('member');
  return (
    <section className="review-bar stack tight" aria-label="Review">
      <div className="row wrap-row">
        {summary}
        <span role="status">
          {viewed} of {plural(diff.files.length, 'file')} viewed
          {comments.length > 0 && ` · ${plural(comments.length, 'comment')}, not sent yet`}
        </span>
        {comments.length === 0 && mayAsk && takesComments(task) && (
          <span className="muted">Select a line number to comment on that line.</span>
        )}
        <span className="grow" />
        {end}
        {obstacle === undefined && mayAsk && (
          <Button size="small" variant={comments.length > 0 ? 'primary' : 'default'} onClick={() => setAsking(true)}>
            {comments.length > 0 ? `Request changes with ${plural(comments.length, 'comment')}` : 'Request changes'}
          </Button>
        )}
      </div>
      {obstacle !== undefined && comments.length > 0 && <p className="muted">{obstacle}</p>}
      <OutdatedComments
        comments={comments.filter((comment) => !isCurrent(comment, diff))}
        onRemove={(id) => onChange((before) => withoutComment(before, id))}
      />
      {isAsking && (
        <RequestChangesDialog
          task={task}
          onSubmit={(request) =>
            mutateAsync(async (id) => {
              const changed = await api.reviseTask(id, request);
              notify(`Requested changes: ${task.title}`, 'success');
              return changed;
            })
          }
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}

/** Returns why nobody can request changes of a task now. */
function requestObstacle({ status, owner, attention }: api.Task): string | undefined {
  if (!takesComments({ status })) return 'The task is done, so changes can no longer be requested.';
  if (owner === null) return 'Assign an agent to the task to send these comments.';
  if (status === 'in_review' || attention?.reason === 'push') return undefined;
  if (status === 'in_progress') return 'The agent is working. You can send these comments when it has finished.';
  return 'Changes can be requested while the task is in review.';
}

/** Shows the comments whose line has changed since. They are sent all the same, with the line as it was. */
function OutdatedComments({ comments, onRemove }: { comments: DraftComment[]; onRemove(id: string): void }) {
  if (comments.length === 0) return null;
  return (
    <details>
      <summary>{plural(comments.length, 'comment')} on lines that have changed since</summary>
      {comments.map((comment) => (
        <div key={comment.id}>
          <p className="muted small wrap">
            <bdi>
              {comment.path}:{comment.line}
            </bdi>
          </p>
          <CommentText comment={comment} onRemove={onRemove} />
        </div>
      ))}
    </details>
  );
}
