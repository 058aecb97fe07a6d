import { Flash, FormControl, Textarea } from '@primer/react';
import { type FormEvent, useState } from 'react';
import type { Task } from '../../api.ts';
import { formatNumber, plural } from '../../display/formats.ts';
import { FormButtons, FormDialog, OvertakenNote } from '../../forms/form-dialog.tsx';
import { submitOnCtrlEnter } from '../../forms/submit.ts';
import { useDraft } from '../../forms/use-draft.ts';
import { useOvertaken } from '../timeline/overtaken.ts';
import {
  lengthOf,
  maxRequest,
  maxWhole,
  placeOf,
  type ReviseTask,
  requestOf,
  withoutComment,
  writtenComments,
} from './review.ts';
import { useReview } from './stored-review.ts';

/**
 * Asks what should change, and sends the drafted comments on the diff with it. Text and comments are kept until the service
 * accepts the request. Cancel discards the text.
 */
export function RequestChangesDialog(props: {
  task: Pick<Task, 'id' | 'title'>;
  /** Sends the request. Rejects when the service refuses it, after telling the person why. */
  onSubmit(request: ReviseTask): Promise<unknown>;
  onClose(): void;
}) {
  const { task, onSubmit, onClose } = props;
  const [review, changeReview] = useReview(task.id);
  const about = useDraft(`Request changes ${task.id}`, '');
  const [wasSubmitted, setSubmitted] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const comments = writtenComments(review);
  const request = requestOf(about.value, comments);
  const problem = problemOf(request);
  const decided = useOvertaken(task.id);
  // The request changes the task, too.
  const overtaken = isBusy ? undefined : decided;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSubmitted(true);
    if (problem !== undefined) event.currentTarget.querySelector('textarea')?.focus();
    if (problem !== undefined || isBusy || overtaken !== undefined) return;
    setBusy(true);
    try {
      await onSubmit(request);
      about.clear();
      changeReview((before) => comments.reduce((left, { id }) => withoutComment(left, id), before));
      onClose();
    } catch {
      setBusy(false);
    }
  };
  const onCancel = () => {
    about.clear();
    onClose();
  };
  return (
    <FormDialog title="Request changes" subtitle={task.title} onClose={onClose} width="large">
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {overtaken !== undefined && <OvertakenNote text={overtaken} />}
        <FormControl required={comments.length === 0}>
          <FormControl.Label>What should change?{comments.length > 0 && ' (optional)'}</FormControl.Label>
          <Textarea
            block
            resize="vertical"
            maxLength={maxRequest}
            value={about.value}
            onChange={(event) => about.set(event.target.value)}
            onKeyDown={submitOnCtrlEnter}
          />
        </FormControl>
        {wasSubmitted && problem && <Flash variant="danger">{problem}</Flash>}
        {comments.length > 0 && (
          <section aria-label="Comments">
            <p className="strong">{plural(comments.length, 'comment')} will be included</p>
            <ul className="bullets">
              {comments.map((comment) => (
                <li key={comment.id} className="wrap">
                  <bdi>{placeOf(comment)}</bdi>: <bdi>{comment.text}</bdi>
                </li>
              ))}
            </ul>
          </section>
        )}
        <FormButtons
          submit="Request changes"
          isBusy={isBusy}
          isDisabled={overtaken !== undefined}
          onCancel={onCancel}
        />
      </form>
    </FormDialog>
  );
}

function problemOf(request: ReviseTask): string | undefined {
  const length = lengthOf(request);
  if (length === 0) return 'Say what should change.';
  if (length <= maxWhole) return undefined;
  return `The request has ${formatNumber(length)} characters with its comments. Shorten it to ${formatNumber(maxWhole)}.`;
}
