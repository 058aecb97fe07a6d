import { PlusIcon } from '@primer/octicons-react';
import { Button, FormControl, Textarea } from '@primer/react';
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type ChangeData, type GutterOptions, getChangeKey, type HunkData } from 'react-diff-view';
import type { FileDiff, ReviewComment } from '../../api.ts';
import { type DiffLine, type DraftComment, isAbout, linesOf, maxRequest, placeOf } from './review.ts';
import { commentsAt, Thread } from './threads.tsx';

interface Given {
  file: FileDiff;
  /** The file's hunks, in the form of react-diff-view. */
  hunks: HunkData[];
  /** Without it, lines have no buttons; comments that were written before are still shown. */
  takesComments: boolean;
  /** What was written on this file and sent. */
  threads: ReviewComment[];
  /** The comments on this file that are not sent yet. */
  comments: DraftComment[];
  onChange(comment: DraftComment): void;
  onRemove(id: string): void;
}

/**
 * Returns what react-diff-view needs for comments: a button over each line's number, and below a line its comments and
 * the editor. `onKeyDown` belongs to the element around them: the arrow keys move between the buttons, of which only the
 * first is reached with Tab.
 */
export function useLineComments({ file, hunks, takesComments, threads, comments, onChange, onRemove }: Given) {
  const [editedId, setEditedId] = useState<string>();
  const [opened, setOpened] = useState<DraftComment>();
  const lines = useMemo(() => pairLines(file, hunks), [file, hunks]);
  const open = useCallback(
    (line: DiffLine) => {
      const comment = { ...line, id: newId(), path: file.path, text: '' };
      setOpened(comment);
      setEditedId(comment.id);
    },
    [file.path],
  );
  const renderGutter = useCallback(
    ({ change, side, renderDefault }: GutterOptions): ReactNode => {
      const line = lines.get(change);
      if (!takesComments || line === undefined || line.side !== side) return renderDefault();
      const isFirst = lines.keys().next().value === change;
      return (
        <>
          {renderDefault()}
          <LineButton id={buttonId(file.path, change)} line={line} isFirst={isFirst} onOpen={open} />
        </>
      );
    },
    [lines, takesComments, file.path, open],
  );
  const widgets: Record<string, ReactNode> = {};
  const isStored = opened !== undefined && comments.some(({ id }) => id === opened.id);
  // Otherwise its editor would be there again, empty, once the comment is sent.
  if (isStored) setOpened(undefined);
  const all = opened === undefined || isStored ? comments : [...comments, opened];
  for (const [change, line] of lines) {
    const here = all.filter((comment) => isAbout(comment, line) && (comment.text !== '' || comment.id === editedId));
    const thread = commentsAt(threads, line);
    if (here.length + thread.length === 0) continue;
    const focusLine = () => {
      setEditedId(undefined);
      document.getElementById(buttonId(file.path, change))?.focus();
    };
    const remove = (id: string) => {
      setOpened(undefined);
      onRemove(id);
      focusLine();
    };
    const close = ({ id, text }: DraftComment) => (text.trim() === '' ? remove(id) : focusLine());
    const drafts = here.map((comment) =>
      comment.id === editedId ? (
        <CommentEditor
          key={comment.id}
          comment={comment}
          onChange={onChange}
          onClose={() => close(comment)}
          onRemove={remove}
        />
      ) : (
        <CommentText key={comment.id} comment={comment} onEdit={setEditedId} onRemove={remove} />
      ),
    );
    widgets[getChangeKey(change)] = (
      <>
        <Thread comments={thread} />
        {drafts}
      </>
    );
  }
  return { widgets, renderGutter, onKeyDown: moveBetweenLines };
}

/** Returns an id of a comment. `crypto.randomUUID` exists only on pages that were loaded over https or from localhost. */
const newId = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

/** Pairs the lines of a file's diff with react-diff-view's, which come in the same order. */
function pairLines(file: FileDiff, hunks: HunkData[]): Map<ChangeData, DiffLine> {
  const changes = hunks.flatMap((hunk) => hunk.changes);
  return new Map(linesOf(file).flatMap((line, i) => (changes[i] === undefined ? [] : [[changes[i], line]])));
}

const buttonId = (path: string, change: ChangeData) => `comment-${encodeURIComponent(path)}-${getChangeKey(change)}`;

function LineButton(props: { id: string; line: DiffLine; isFirst: boolean; onOpen(line: DiffLine): void }) {
  const { id, line, isFirst, onOpen } = props;
  return (
    <button
      type="button"
      id={id}
      className="comment-button"
      tabIndex={isFirst ? 0 : -1}
      aria-label={`Comment on ${line.side === 'old' ? 'removed line' : 'line'} ${line.line}`}
      onClick={() => onOpen(line)}
    >
      <PlusIcon size={12} />
    </button>
  );
}

function moveBetweenLines(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('.comment-button')];
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  buttons[at + step]?.focus();
}

/** Shows the text field of a comment. What is typed is kept at once, so there is nothing to save. */
function CommentEditor(props: {
  comment: DraftComment;
  onChange(comment: DraftComment): void;
  onClose(): void;
  onRemove(id: string): void;
}) {
  const { comment, onChange, onClose, onRemove } = props;
  const box = useRef<HTMLDivElement>(null);
  // At the edge of a small screen, and above a phone's keyboard, the browser shows only the beginning of the field.
  useEffect(() => {
    const show = () => void box.current?.scrollIntoView({ block: 'nearest' });
    show();
    visualViewport?.addEventListener('resize', show);
    return () => visualViewport?.removeEventListener('resize', show);
  }, []);
  // There is nothing to delete yet.
  const isNew = comment.text.trim() === '';
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' && !(event.key === 'Enter' && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    onClose();
  };
  return (
    <div className="line-comment stack tight" ref={box}>
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
          {isNew ? 'Cancel' : 'Delete comment'}
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
