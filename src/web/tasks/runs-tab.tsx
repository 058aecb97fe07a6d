import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useSearchParams } from 'react-router';
import type { Run, Task } from '../api.ts';
import { costOf, plural } from '../display/formats.ts';
import { runKindName, runPath } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { RunStatus } from '../display/status-labels.tsx';
import { TimeAgo } from '../display/times.tsx';
import * as queries from '../live/queries.ts';

/** Lists the runs of a task, newest first, each with a link to its page. */
export function RunsTab({ task }: { task: Task }) {
  const query = useQuery(queries.runs(task.id));
  const [searchParams] = useSearchParams();
  // The log of a run was shown here before runs had pages of their own.
  const linked = searchParams.get('run');
  if (linked !== null) return <Navigate to={runPath(task.id, linked)} replace />;
  return (
    <QueryResult query={query}>
      {(runs) =>
        runs.length === 0 ? (
          <EmptyState title="No runs yet">Start the task to follow its run here.</EmptyState>
        ) : (
          <ul className="list" aria-label="Runs">
            {runs.map((run) => (
              <RunItem key={run.id} run={run} />
            ))}
          </ul>
        )
      }
    </QueryResult>
  );
}

function RunItem({ run }: { run: Run }) {
  const { taskId, id, status, steps, costUsd, createdAt, rewoundFrom, failure } = run;
  return (
    <li className="list-item">
      <RunStatus status={status} />
      <Link to={runPath(taskId, id)}>
        {runKindName(run)}
        {rewoundFrom && ` to turn ${rewoundFrom.turn}`}
      </Link>
      <span className="muted">
        <TimeAgo at={createdAt} /> · {plural(steps, 'step')} · {costOf({ steps, costUsd })}
      </span>
      {failure && <p className="wrap muted">Failed: {failure.message}</p>}
    </li>
  );
}
