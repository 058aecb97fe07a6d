import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Task } from '../api.ts';
import { costOf, plural } from '../display/formats.ts';
import { runPath } from '../display/names.ts';
import { RunStatus } from '../display/status-labels.tsx';
import { StartedAgo } from '../display/times.tsx';
import * as queries from '../live/queries.ts';

/** Shows a line about the run in progress, updated with every step. */
export function CurrentRun({ task }: { task: Task }) {
  const { data: [run] = [] } = useQuery(queries.runs(task.id));
  if (run === undefined) return null;
  return (
    <p className="box" role="status">
      <RunStatus status={run.status} />{' '}
      {run.status === 'queued' ? (
        'Waiting to start'
      ) : (
        <>
          {plural(run.steps, 'step')} · {costOf(run)} · <StartedAgo at={run.startedAt ?? run.createdAt} />
        </>
      )}{' '}
      · <Link to={runPath(task.id, run.id)}>Watch this run</Link>
    </p>
  );
}
