import './runs.css';
import { Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import type { Run, Task } from '../api.ts';
import { runKindName } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { RunStatus } from '../display/status-labels.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { AttentionBox } from '../tasks/waiting/attention-box.tsx';
import { LogView } from './log/log-view.tsx';
import { RunFacts } from './run-facts.tsx';
import { Steering } from './steering.tsx';

/** The page of one run: what it did, what it is doing, and the means to steer it. */
export function RunPage() {
  const { taskId = '', runId = '' } = useParams();
  const task = useQuery(queries.task(taskId));
  const run = useQuery(queries.run(runId));
  usePageTitle(run.data && runKindName(run.data), task.data?.title.slice(0, 60));
  return (
    <QueryResult query={task} isPage>
      {(ofTask) => (
        <QueryResult query={run} isPage>
          {(shown) =>
            shown.taskId === ofTask.id ? (
              <RunView key={shown.id} task={ofTask} run={shown} />
            ) : (
              <EmptyState as="h1" title="Not found">
                This run belongs to another task.{' '}
                <Link to={`/tasks/${ofTask.id}?tab=runs`}>View runs of this task</Link>
              </EmptyState>
            )
          }
        </QueryResult>
      )}
    </QueryResult>
  );
}

function RunView({ task, run }: { task: Task; run: Run }) {
  const isLive = run.finishedAt === null;
  return (
    <div className="stack run-page">
      <div>
        <p className="muted">
          <Link to={`/tasks/${task.id}`}>
            <bdi>{task.title}</bdi>
          </Link>
          {' · '}
          <Link to={`/tasks/${task.id}?tab=runs`}>All runs</Link>
        </p>
        <Heading as="h1" variant="medium" className="row wrap-row">
          <span>{runKindName(run)}</span> <RunStatus status={run.status} />
        </Heading>
      </div>
      {/* At most one run of a task is unfinished, and the task waits for what this run waits for. */}
      <AttentionBox task={isLive ? task : { ...task, attention: null }} />
      <RunFacts task={task} run={run} />
      {isLive && <Steering task={task} />}
      <LogView task={task} run={run} />
    </div>
  );
}
