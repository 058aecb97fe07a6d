import { Dialog } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import type { MergeReadiness, Task } from '../../api.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { mergeSteps, mergeTitle } from './merge-texts.ts';
import { ProblemList } from './problem-list.tsx';
import { mergeReadiness } from './readiness-query.ts';

/** Says what a merge will do and what is not green, before a person merges. */
export function MergeDialog({ task, onMerge, onClose }: { task: Task; onMerge(): void; onClose(): void }) {
  const query = useQuery(mergeReadiness(task.id));
  const { data } = query;
  const isBlocked = data?.problems.some(({ blocks }) => blocks) ?? false;
  const merge = () => {
    onMerge();
    onClose();
  };
  return (
    <Dialog
      role="alertdialog"
      title={data === undefined ? 'Merge pull requests?' : mergeTitle(data)}
      width="large"
      onClose={onClose}
      footerButtons={[
        { content: 'Cancel', autoFocus: true, onClick: onClose },
        {
          content: data !== undefined && data.problems.length > 0 && !isBlocked ? 'Merge anyway' : 'Merge',
          buttonType: 'primary',
          // If the readiness cannot be read, the service still refuses what cannot be merged.
          disabled: isBlocked || (data === undefined && query.error === null),
          onClick: merge,
        },
      ]}
    >
      <QueryResult query={query} rows={3}>
        {(readiness) => <Explanation readiness={readiness} isBlocked={isBlocked} />}
      </QueryResult>
    </Dialog>
  );
}

function Explanation({ readiness, isBlocked }: { readiness: MergeReadiness; isBlocked: boolean }) {
  const { problems } = readiness;
  return (
    <div className="stack">
      {!isBlocked && (
        <ol className="steps" aria-label="What will happen">
          {mergeSteps(readiness).map((step) => (
            <li key={step} className="wrap">
              <bdi>{step}</bdi>
            </li>
          ))}
        </ol>
      )}
      {problems.length > 0 && (
        <div>
          <p className="strong">{isBlocked ? 'This cannot be merged now' : 'Not everything is green'}</p>
          <ProblemList problems={problems} />
        </div>
      )}
    </div>
  );
}
