import 'react-diff-view/style/index.css';
import { Button, Checkbox, FormControl } from '@primer/react';
import { memo, useMemo, useState } from 'react';
import { type ChangeData, Diff, Hunk, type HunkData, type HunkTokens, tokenize } from 'react-diff-view';
import { refractor } from 'refractor';
import type { FileDiff, ReviewComment } from '../../api.ts';
import { formatNumber, plural } from '../../display/formats.ts';
import { hasHidden, revealHidden } from '../../display/hidden-characters.ts';
import { notify } from '../../frame/notices.tsx';
import { useLineComments } from '../review/line-comments.tsx';
import {
  digestOfFile,
  isSameAbout,
  isViewed,
  linesOf,
  maxComments,
  type Review,
  withComment,
  withoutComment,
  withViewed,
} from '../review/review.ts';
import { commentsAt, OtherThreads } from '../review/threads.tsx';
import { anchorOf } from './file-tree.tsx';

export type ViewType = 'unified' | 'split';

const diffTypes = { added: 'add', deleted: 'delete', modified: 'modify', renamed: 'rename' } as const;

interface Given {
  file: FileDiff;
  view: ViewType;
  review: Review;
  /** What was written on lines of this file and sent. */
  threads: ReviewComment[];
  /** Whether people can comment on lines. */
  takesComments: boolean;
  onChange(change: (before: Review) => Review): void;
}

interface FileGiven extends Given {
  /** Whether the file starts folded. */
  isFolded: boolean;
}

/**
 * Shows the changes of one file. It is drawn again only for what concerns this file, because a review changes with every
 * letter of a comment.
 */
export const FileDiffView = memo(
  DiffOfFile,
  (a, b) =>
    a.file === b.file &&
    a.view === b.view &&
    a.threads === b.threads &&
    a.isFolded === b.isFolded &&
    a.takesComments === b.takesComments &&
    a.onChange === b.onChange &&
    isSameAbout(a.file.path, a.review, b.review),
);

function DiffOfFile({ isFolded, ...given }: FileGiven) {
  const { file, review, threads, onChange } = given;
  const wasViewed = isViewed(review, file);
  const digest = digestOfFile(file);
  const [choice, setChoice] = useState<{ digest: string; isOpen: boolean }>();
  // A file that changes is folded or open as if it were new.
  const isOpen = choice?.digest === digest ? choice.isOpen : !isFolded && !wasViewed;
  const setOpen = (isNowOpen: boolean) => setChoice({ digest, isOpen: isNowOpen });
  const hasHiddenCharacters = useMemo(
    () => hasHidden(file.path) || file.hunks.some((h) => h.lines.some(hasHidden)),
    [file],
  );
  const setViewed = (isNowViewed: boolean) => {
    onChange((before) => withViewed(before, file, isNowViewed));
    setOpen(!isNowViewed);
  };
  return (
    <section className="file" id={anchorOf(file.path)} aria-label={file.path.slice(0, 200)}>
      <div className="file-head">
        <h2>
          <bdi className="wrap">
            {file.previousPath && `${revealHidden(file.previousPath)} → `}
            {revealHidden(file.path)}
          </bdi>
        </h2>
        <span className="row">
          <span className="muted small">
            {file.status} <span className="added">+{formatNumber(file.additions)}</span>{' '}
            <span className="removed">−{formatNumber(file.deletions)}</span>
          </span>
          <FormControl>
            <Checkbox checked={wasViewed} onChange={(event) => setViewed(event.target.checked)} />
            <FormControl.Label>Viewed</FormControl.Label>
          </FormControl>
        </span>
      </div>
      {hasHiddenCharacters && (
        <p className="failure padded">
          This file contains invisible or bidirectional characters. They are shown as ⟦U+…⟧.
        </p>
      )}
      {file.binary && <p className="muted padded">Binary files are not shown.</p>}
      {!file.binary && !isOpen && (
        <p className="padded">
          <Button onClick={() => setOpen(true)}>Show {plural(file.additions + file.deletions, 'changed line')}</Button>
        </p>
      )}
      {!file.binary && isOpen && <Lines {...given} />}
      <OtherThreads comments={threads.filter((each) => file.binary || !isOpen || !isInDiff(file, each))} />
      {file.truncated && <p className="muted padded">The rest of this file is not shown. View it on GitHub.</p>}
    </section>
  );
}

/** Returns whether a comment stands at a line of the diff. */
function isInDiff(file: FileDiff, comment: ReviewComment): boolean {
  return linesOf(file).some((line) => commentsAt([comment], line).length > 0);
}

function Lines({ file, view, review, threads, takesComments, onChange }: Given) {
  const hunks = useMemo(() => file.hunks.map(toHunkData), [file]);
  const tokens = useMemo(() => highlight(file.path, hunks), [file.path, hunks]);
  const { widgets, renderGutter, onKeyDown } = useLineComments({
    file,
    hunks,
    takesComments,
    threads,
    comments: review.comments.filter(({ path }) => path === file.path),
    onChange: (comment) =>
      onChange((before) => {
        const after = withComment(before, comment);
        if (after === before) notify(`A review has at most ${maxComments} comments. Send these first.`, 'danger');
        return after;
      }),
    onRemove: (id) => onChange((before) => withoutComment(before, id)),
  });
  return (
    <section
      className="file-lines"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
      tabIndex={0}
      aria-label={`Lines of ${file.path.slice(0, 200)}`}
      onKeyDown={onKeyDown}
    >
      <Diff
        viewType={view}
        diffType={diffTypes[file.status]}
        hunks={hunks}
        tokens={tokens}
        widgets={widgets}
        renderGutter={renderGutter}
      >
        {(shown) => shown.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
      </Diff>
    </section>
  );
}

const languageByExtension: Record<string, string> = {
  cjs: 'javascript',
  cs: 'csharp',
  h: 'c',
  htm: 'markup',
  html: 'markup',
  js: 'javascript',
  jsx: 'jsx',
  kt: 'kotlin',
  md: 'markdown',
  mjs: 'javascript',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  svg: 'markup',
  ts: 'typescript',
  vue: 'markup',
  xml: 'markup',
  yml: 'yaml',
};

/**
 * Returns syntax highlighting by file extension, or undefined for unknown languages and for code that cannot be parsed.
 */
function highlight(path: string, hunks: HunkData[]): HunkTokens | undefined {
  const extension = path.split('.').at(-1)?.toLowerCase() ?? '';
  const language = languageByExtension[extension] ?? extension;
  if (hunks.length === 0 || !refractor.registered(language)) return undefined;
  // react-diff-view expects the API of refractor 3, whose highlight() returns the child nodes.
  const refractor3 = {
    ...refractor,
    highlight: (text: string, name: string) => refractor.highlight(text, name).children,
  };
  try {
    return tokenize(hunks, { highlight: true, refractor: refractor3, language });
  } catch {
    return undefined;
  }
}

/** Converts a hunk of the API to the form that react-diff-view needs. */
function toHunkData({ oldStart, oldLines, newStart, newLines, lines }: FileDiff['hunks'][number]): HunkData {
  let [oldLine, newLine] = [oldStart, newStart];
  const changes = lines.map((line): ChangeData => {
    const content = revealHidden(line.slice(1));
    if (line.startsWith('+')) return { type: 'insert', content, lineNumber: newLine++, isInsert: true };
    if (line.startsWith('-')) return { type: 'delete', content, lineNumber: oldLine++, isDelete: true };
    return { type: 'normal', content, oldLineNumber: oldLine++, newLineNumber: newLine++, isNormal: true };
  });
  return {
    content: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    oldStart,
    oldLines,
    newStart,
    newLines,
    changes,
  };
}
