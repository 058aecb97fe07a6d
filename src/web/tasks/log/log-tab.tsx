import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import type { Run, Task } from '../../api.ts';
import { EmptyState } from '../../display/empty-state.tsx';
import { runKindName } from '../../display/names.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { RunStatus } from '../../display/status-labels.tsx';
import { TimeAgo } from '../../display/times.tsx';
import * as queries from '../../live/queries.ts';
import { RunLog } from './run-log.tsx';
import { RunSummary } from './run-summary.tsx';
import { TurnList } from './turn-list.tsx';

/** Shows the runs of a task and the log of the selected one, by default the newest. */
export function LogTab({ task }: { task: Task }) {
  const query = useQuery(queries.runs(task.id));
  const [searchParams, setSearchParams] = useSearchParams();
  return (
    <QueryResult query={query}>
      {(runs) => {
        const selected = runs.find((r) => r.id === searchParams.get('run')) ?? runs[0];
        if (selected === undefined)
          return <EmptyState title="No runs yet">Start the task to follow its log here.</EmptyState>;
        return (
          <div className="stack">
            {runs.length > 1 && (
              <RunList runs={runs} selected={selected} onSelect={(run) => setSearchParams({ tab: 'runs', run })} />
            )}
            <RunSummary task={task} run={selected} />
            <RunLog key={selected.id} runId={selected.id} />
            <TurnList key={`turns ${selected.id}`} task={task} run={selected} />
          </div>
        );
      }}
    </QueryResult>
  );
}

function RunList({ runs, selected, onSelect }: { runs: Run[]; selected: Run; onSelect(id: string): void }) {
  return (
    <ul className="list" aria-label="Runs">
      {runs.map((run) => (
        <li key={run.id}>
          <button
            type="button"
            className="list-button row wrap-row"
            aria-pressed={run.id === selected.id}
            onClick={() => onSelect(run.id)}
          >
            <RunStatus status={run.status} /> {runKindName(run)} <TimeAgo at={run.createdAt} />
          </button>
        </li>
      ))}
    </ul>
  );
}
