import { SegmentedControl } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { FileDiff, ReviewComment, Task, TaskDiff } from '../../api.ts';
import { formatNumber, plural } from '../../display/formats.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { EmptyState } from '../../display/sections.tsx';
import { useMay } from '../../forms/may.tsx';
import * as queries from '../../live/queries.ts';
import { isViewed, takesComments } from '../review/review.ts';
import { ReviewBar } from '../review/review-bar.tsx';
import { useReview } from '../review/stored-review.ts';
import { OtherThreads } from '../review/threads.tsx';
import { FileDiffView, type ViewType } from './file-diff.tsx';
import { FileTree } from './file-tree.tsx';

/** Shows the files that a task changed, with a tree to navigate them, and lets people review them. */
export function ChangesTab({ task }: { task: Task }) {
  const query = useQuery(queries.diff(task.id));
  return (
    <QueryResult query={query}>
      {(diff) =>
        diff.files.length === 0 ? (
          <EmptyState title="No changes yet">Changes appear here after the agent has pushed them.</EmptyState>
        ) : (
          <Changes task={task} diff={diff} />
        )
      }
    </QueryResult>
  );
}

/** The same list each time, so that files without comments are not drawn again. */
const noComments: ReviewComment[] = [];

function Changes({ task, diff }: { task: Task; diff: TaskDiff }) {
  const [review, changeReview] = useReview(task.id);
  const [searchParams, setSearchParams] = useSearchParams();
  const { data: written = noComments } = useQuery(queries.reviewComments(task.id));
  const threads = useMemo(() => Map.groupBy(written, ({ path }) => path), [written]);
  const elsewhere = written.filter(({ path }) => !diff.files.some((file) => file.path === path));
  const mayComment = useMay('member');
  const view = searchParams.get('view') === 'split' ? 'split' : 'unified';
  const setView = (next: ViewType) =>
    setSearchParams({ tab: 'diff', ...(next === 'split' ? { view: 'split' } : {}) }, { replace: true });
  return (
    <>
      <ReviewBar
        task={task}
        diff={diff}
        review={review}
        onChange={changeReview}
        summary={<Summary diff={diff} />}
        end={<ViewChoice view={view} setView={setView} />}
      />
      {diff.truncated && (
        <p className="muted">Showing the first {plural(diff.files.length, 'file')}. View the rest on GitHub.</p>
      )}
      <OtherThreads comments={elsewhere} />
      <div className="diff-page">
        <nav aria-label="Changed files" className="file-list tree">
          <FileTree files={diff.files} isViewed={(file) => isViewed(review, file)} />
        </nav>
        <div className="files">
          {diff.files.map((file, i) => (
            <FileDiffView
              key={file.path}
              file={file}
              view={view}
              isFolded={isFoldedAt(diff.files, i)}
              review={review}
              threads={threads.get(file.path) ?? noComments}
              takesComments={mayComment && takesComments(task)}
              onChange={changeReview}
            />
          ))}
        </div>
      </div>
    </>
  );
}

function Summary({ diff: { files, branchName, baseBranch } }: { diff: TaskDiff }) {
  return (
    <span className="muted" title={`${branchName} compared with ${baseBranch}`}>
      {plural(files.length, 'changed file')} <span className="added">+{formatNumber(sumOf(files, 'additions'))}</span>{' '}
      <span className="removed">−{formatNumber(sumOf(files, 'deletions'))}</span> into <code>{baseBranch}</code>
    </span>
  );
}

function ViewChoice({ view, setView }: { view: ViewType; setView(view: ViewType): void }) {
  return (
    <SegmentedControl aria-label="Diff view" size="small" onChange={(i) => setView(i === 1 ? 'split' : 'unified')}>
      <SegmentedControl.Button selected={view === 'unified'}>Unified</SegmentedControl.Button>
      <SegmentedControl.Button selected={view === 'split'}>Split</SegmentedControl.Button>
    </SegmentedControl>
  );
}

/** A file with more changed lines than this starts folded. */
const maxLinesOfFile = 400;
/** After this many changed lines in all, the remaining files start folded. */
const maxLinesInAll = 3000;

function sumOf(files: FileDiff[], count: 'additions' | 'deletions'): number {
  return files.reduce((sum, file) => sum + file[count], 0);
}

const linesOf = (files: FileDiff[]) => sumOf(files, 'additions') + sumOf(files, 'deletions');

/** Returns whether the file at an index starts folded, so that a large diff does not slow down the page. */
function isFoldedAt(files: FileDiff[], index: number): boolean {
  return linesOf(files.slice(index, index + 1)) > maxLinesOfFile || linesOf(files.slice(0, index + 1)) > maxLinesInAll;
}
