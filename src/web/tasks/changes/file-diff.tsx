import 'react-diff-view/style/index.css';
import { Button } from '@primer/react';
import { useMemo, useState } from 'react';
import { Diff, Hunk } from 'react-diff-view';
import type { FileDiff } from '../../api.ts';
import { hasHidden, revealHidden } from '../../display/hidden-characters.ts';
import { plural } from '../../display/plural.ts';
import { anchorOf } from './file-tree.tsx';
import { highlight } from './highlight.ts';
import { toHunkData } from './hunk-data.ts';

export type ViewType = 'unified' | 'split';

const diffTypes = { added: 'add', deleted: 'delete', modified: 'modify', renamed: 'rename' } as const;

/** Shows the changes of one file. */
export function FileDiffView({ file, view, isFolded }: { file: FileDiff; view: ViewType; isFolded: boolean }) {
  const [isOpen, setOpen] = useState(!isFolded);
  const hasHiddenCharacters = useMemo(
    () => hasHidden(file.path) || file.hunks.some((h) => h.lines.some(hasHidden)),
    [file],
  );
  return (
    <section className="file" id={anchorOf(file.path)} aria-label={file.path.slice(0, 200)}>
      <h2 className="file-head">
        <bdi className="wrap">
          {file.previousPath && `${revealHidden(file.previousPath)} → `}
          {revealHidden(file.path)}
        </bdi>
        <span className="muted small">
          {file.status} <span className="added">+{file.additions}</span>{' '}
          <span className="removed">−{file.deletions}</span>
        </span>
      </h2>
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
      {!file.binary && isOpen && <Lines file={file} view={view} />}
      {file.truncated && <p className="muted padded">The rest of this file is not shown. View it on GitHub.</p>}
    </section>
  );
}

function Lines({ file, view }: { file: FileDiff; view: ViewType }) {
  const hunks = useMemo(() => file.hunks.map(toHunkData), [file]);
  const tokens = useMemo(() => highlight(file.path, hunks), [file.path, hunks]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="file-lines" tabIndex={0} aria-label={`Lines of ${file.path.slice(0, 200)}`}>
      <Diff viewType={view} diffType={diffTypes[file.status]} hunks={hunks} tokens={tokens}>
        {(shown) => shown.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
      </Diff>
    </section>
  );
}
