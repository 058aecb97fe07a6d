import { Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { CardRun } from '../api.ts';
import { plural } from '../display/formats.ts';
import { runKindName, runPath } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { RunStatus } from '../display/status-labels.tsx';
import { StartedAgo } from '../display/times.tsx';
import * as queries from '../live/queries.ts';

/** Shows the tasks in progress with their newest run. */
export function ActiveRuns({ projectId }: { projectId: string }) {
  const query = useQuery(queries.tasks(projectId));
  return (
    <section aria-label="Active runs">
      <Heading as="h2" variant="small">
        Active runs
      </Heading>
      <QueryResult query={query} rows={3}>
        {(allTasks) => {
          const tasks = allTasks.filter((t) => t.status === 'in_progress');
          if (tasks.length === 0)
            return <EmptyState title="No active runs">Start a task to see its run here.</EmptyState>;
          return (
            <ul className="list">
              {tasks.map((task) => (
                <li key={task.id} className="list-item">
                  <Link to={`/tasks/${task.id}`} className="wrap">
                    <bdi>{task.title}</bdi>
                  </Link>
                  {task.run !== null && <NewestRun taskId={task.id} run={task.run} />}
                </li>
              ))}
            </ul>
          );
        }}
      </QueryResult>
    </section>
  );
}

function NewestRun({ taskId, run }: { taskId: string; run: CardRun }) {
  return (
    <>
      <RunStatus status={run.status} />
      <span className="muted">
        <Link to={runPath(taskId, run.id)}>{runKindName(run)}</Link> · {plural(run.steps, 'step')} ·{' '}
        {run.startedAt === null ? 'waiting to start' : <StartedAgo at={run.startedAt} />}
      </span>
    </>
  );
}
