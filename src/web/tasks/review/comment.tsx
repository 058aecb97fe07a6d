import { Button, FormControl, Textarea } from '@primer/react';
import type { KeyboardEvent } from 'react';
import { type DraftComment, maxRequest, placeOf } from './review.ts';

/** Shows the text field of a comment. What is typed is kept at once, so there is nothing to save. */
export function CommentEditor(props: {
  comment: DraftComment;
  onChange(comment: DraftComment): void;
  onClose(): void;
  onRemove(id: string): void;
}) {
  const { comment, onChange, onClose, onRemove } = props;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' && !(event.key === 'Enter' && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    onClose();
  };
  return (
    <div className="line-comment stack tight">
      <FormControl>
        <FormControl.Label>Comment on {placeOf(comment)}</FormControl.Label>
        <Textarea
          block
          autoFocus
          rows={3}
          resize="vertical"
          maxLength={maxRequest}
          value={comment.text}
          onChange={(event) => onChange({ ...comment, text: event.target.value })}
          onKeyDown={onKeyDown}
        />
        <FormControl.Caption>Kept as a draft until you request changes.</FormControl.Caption>
      </FormControl>
      <div className="row end">
        <Button size="small" onClick={() => onRemove(comment.id)}>
          Delete comment
        </Button>
        <Button size="small" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  );
}

/** Shows a comment that its author has not submitted yet. */
export function CommentText(props: { comment: DraftComment; onEdit?(id: string): void; onRemove(id: string): void }) {
  const { comment, onEdit, onRemove } = props;
  const { id, text } = comment;
  return (
    <div className="line-comment">
      <p className="wrap">
        <bdi>{text}</bdi>
      </p>
      <div className="row">
        <span className="muted small">Draft</span>
        <span className="grow" />
        {onEdit && (
          <Button size="small" aria-label={`Edit comment on ${placeOf(comment)}`} onClick={() => onEdit(id)}>
            Edit
          </Button>
        )}
        <Button size="small" aria-label={`Delete comment on ${placeOf(comment)}`} onClick={() => onRemove(id)}>
          Delete
        </Button>
      </div>
    </div>
  );
}
