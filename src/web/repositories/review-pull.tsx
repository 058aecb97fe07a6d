import { Flash, FormControl, TextInput } from '@primer/react';
import { useMutation } from '@tanstack/react-query';
import { Link } from 'react-router';
import * as api from '../api.ts';
import { runPath } from '../display/names.ts';
import { FormButtons, FormDialog } from '../forms/form-dialog.tsx';
import { submitOnce } from '../forms/submit.ts';
import { useDraft } from '../forms/use-draft.ts';
import { errorMessage } from '../live/errors.ts';
import { numberOfPull } from './reviewed-number.ts';

/** Asks an agent to review a pull request, and links to the run. */
export function ReviewPull({ repository, onClose }: { repository: api.RepositoryEntry; onClose(): void }) {
  const { value: text, set: setText, clear } = useDraft(`review ${repository.id}`, '');
  const number = numberOfPull(text);
  const review = useMutation({
    mutationFn: () => api.reviewPullRequest(repository.id, number ?? ''),
    onSuccess: clear,
  });
  return (
    <FormDialog title={`Review a pull request of ${repository.name}`} onClose={onClose}>
      <form className="stack" onSubmit={submitOnce(review, () => number !== undefined)}>
        {review.error && <Flash variant="danger">{errorMessage(review.error)}</Flash>}
        {review.data && (
          <Flash variant="success" role="status">
            The review was asked for. <Link to={runPath(review.data.taskId, review.data.id)}>Follow its run</Link>
          </Flash>
        )}
        <FormControl required>
          <FormControl.Label>Pull request</FormControl.Label>
          <TextInput block inputMode="numeric" value={text} onChange={(event) => setText(event.target.value)} />
          <FormControl.Caption>
            Its number or address. An agent comments on the lines that it changes.
          </FormControl.Caption>
        </FormControl>
        <FormButtons submit="Review" isBusy={review.isPending} isDisabled={number === undefined} onCancel={onClose} />
      </form>
    </FormDialog>
  );
}
