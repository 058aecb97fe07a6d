import { Heading } from '@primer/react';
import { useDeferredValue, useMemo, useState } from 'react';
import type { Run, Task } from '../../api.ts';
import { useFilters } from '../../board/use-filters.ts';
import { errorMessage } from '../../live/errors.ts';
import { mayRewind } from '../../tasks/actions/task-actions.ts';
import { ActivityLine } from '../activity-line.tsx';
import { PlanSteps } from '../plan-steps.tsx';
import { RewindDialog } from '../rewind-dialog.tsx';
import { activityOf } from './activity.ts';
import { type Filter, isFilter, rowFilter } from './filter-rows.ts';
import { LogToolbar } from './log-toolbar.tsx';
import { RowList } from './row-list.tsx';
import { useRunLog } from './use-run-log.ts';

/** Shows what a run did, turn by turn, and what it is doing. Needs the run's id as its key. */
export function LogView({ task, run }: { task: Task; run: Run }) {
  const { searchParams, searchText, setSearchText } = useFilters();
  const shown = searchParams.get('show');
  const filter = isFilter(shown) ? shown : 'all';
  // The filters wait for a pause in typing, so they are kept apart from what is rendered whenever the log grows.
  return <FilteredLog task={task} run={run} filter={filter} searchText={searchText} onSearch={setSearchText} />;
}

function FilteredLog(props: {
  task: Task;
  run: Run;
  filter: Filter;
  searchText: string;
  onSearch(text: string): void;
}) {
  const { task, run, filter, searchText, onSearch } = props;
  const { timeline, version, state, problem, retry } = useRunLog(run);
  const [rewindTo, setRewindTo] = useState<number>();
  // Searching a long log may take longer than a keystroke.
  const search = useDeferredValue(searchText);
  const keep = useMemo(() => rowFilter(filter, search), [filter, search]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version changes with the timeline
  const rows = useMemo(() => keep(timeline.rows()), [keep, timeline, version]);
  const isLive = run.finishedAt === null;
  return (
    <div className="run-columns">
      <div className="run-main stack tight">
        <Heading as="h2" variant="small">
          Log
        </Heading>
        <LogToolbar
          run={run}
          timeline={timeline}
          filter={filter}
          searchText={searchText}
          onSearch={onSearch}
          keep={keep}
        />
        {problem !== undefined && (
          <p role="alert" className="failure box wrap">
            The turns could not be loaded: {errorMessage(problem)}{' '}
            <button type="button" className="link-button" onClick={retry}>
              Try again
            </button>
          </p>
        )}
        {rows.length === 0 ? (
          <p className="muted box">{emptyText({ isLive, isFiltered: filter !== 'all' || search !== '', state })}</p>
        ) : (
          <RowList rows={rows} isLive={isLive} onRewind={mayRewind(task) ? setRewindTo : undefined} />
        )}
        <ActivityLine
          activity={activityOf(run, task.attention, timeline)}
          lostText={state === 'lost' ? 'Connection lost. Reconnecting…' : undefined}
        />
      </div>
      <PlanSteps steps={timeline.plan()} isLive={isLive} />
      {rewindTo !== undefined && (
        <RewindDialog task={task} runId={run.id} turn={rewindTo} onClose={() => setRewindTo(undefined)} />
      )}
    </div>
  );
}

function emptyText(seen: { isLive: boolean; isFiltered: boolean; state: 'live' | 'ended' | 'lost' }): string {
  if (seen.isFiltered) return 'Nothing in this log matches the filter.';
  if (seen.isLive) return 'Waiting for the first entry…';
  return seen.state === 'ended' ? 'The log of this run is no longer kept.' : 'Loading the log…';
}
