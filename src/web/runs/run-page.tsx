import { May } from '../forms/may.tsx';
import './runs.css';
import { Button, Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import { Link, useParams } from 'react-router';
import type { Run, Task } from '../api.ts';
import { costOf, elapsedOf, formatMs, formatNumber, plural } from '../display/formats.ts';
import { runKindName, runPath } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { RunStatus } from '../display/status-labels.tsx';
import { StartedAgo, TimeAgo, useNow } from '../display/times.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { MessageForm } from '../tasks/actions/message-form.tsx';
import { PauseButton } from '../tasks/actions/pause-button.tsx';
import { actionNames } from '../tasks/actions/task-actions.ts';
import { useRunControls } from '../tasks/actions/use-steering.ts';
import { Remedy } from '../tasks/failure-notice.tsx';
import { AskedFor } from '../tasks/timeline/asked-for.tsx';
import { useConfirmedAction } from '../tasks/use-confirmed-action.tsx';
import { AttentionBox } from '../tasks/waiting/attention-box.tsx';
import { LogView } from './log-view.tsx';
import { Receipts } from './receipts.tsx';

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
    <div className="run-page">
      <header className="run-head">
        <div className="row wrap-row">
          <RunStatus status={run.status} />
          <Heading as="h1" variant="small" className="wrap task-title">
            <Link to={`/tasks/${task.id}`} className="run-title">
              <bdi>{task.title}</bdi>
            </Link>
          </Heading>
          <span className="grow" />
          <Link to={`/tasks/${task.id}?tab=runs`}>All runs</Link>
        </div>
        <RunFacts run={run} />
        <AskedFor run={run} />
      </header>
      {run.failure && <Failure task={task} failure={run.failure} />}
      {/* At most one run of a task is unfinished, and the task waits for what this run waits for. */}
      <AttentionBox task={isLive ? task : { ...task, attention: null }} />
      <Receipts run={run} />
      <LogView task={task} run={run} />
      <May>
        <Steering task={task} isLive={isLive} isPausing={run.pausing} />
      </May>
    </div>
  );
}

/** Shows in one line what a run has cost so far. The figures change with every turn. */
function RunFacts({ run }: { run: Run }) {
  return (
    <section className="run-facts muted" aria-label="Run">
      <span>{runKindName(run)}</span>
      <span>
        <Start run={run} />
      </span>
      {run.startedAt !== null && (
        <span title="Without the time that it waited">
          worked <Duration run={run} />
        </span>
      )}
      {run.waitedSeconds > 0 && <span>waited {formatMs(run.waitedSeconds * 1000)}</span>}
      <span>{plural(run.steps, 'step')}</span>
      <span>{tokensOf(run)}</span>
      <span>{costOf(run)}</span>
      {run.rewoundFrom && (
        <span>
          rewound from{' '}
          <Link to={{ pathname: runPath(run.taskId, run.rewoundFrom.runId), hash: `turn-${run.rewoundFrom.turn}` }}>
            turn {run.rewoundFrom.turn} of an earlier run
          </Link>
        </span>
      )}
    </section>
  );
}

function Failure({ task, failure }: { task: Task; failure: NonNullable<Run['failure']> }) {
  return (
    <section className="box failure" aria-label="Failure">
      <p className="wrap">
        <span className="strong">Failed: </span>
        {failure.message}
      </p>
      <Remedy task={task} failure={failure} />
    </section>
  );
}

function Start({ run: { startedAt, finishedAt } }: { run: Run }) {
  if (startedAt !== null && finishedAt === null) return <StartedAgo at={startedAt} />;
  if (startedAt !== null)
    return (
      <>
        started <TimeAgo at={startedAt} />
      </>
    );
  return finishedAt === null ? 'waiting to start' : 'never started';
}

/** Shows how long a run that was started has worked. The time for which it waited is a figure of its own. */
function Duration({ run }: { run: Run }) {
  return run.finishedAt === null ? <LiveDuration run={run} /> : formatMs(elapsedOf(run, 0));
}

function LiveDuration({ run }: { run: Run }) {
  const now = useNow(1000);
  return <span className="clock">{formatMs(elapsedOf(run, now))}</span>;
}

function tokensOf({ inputTokens, cachedInputTokens, outputTokens }: Run): string {
  const total = plural(inputTokens + outputTokens, 'token');
  return cachedInputTokens === 0 ? total : `${total} (${formatNumber(cachedInputTokens)} from the cache)`;
}

/** Lets people write to the agent of an unfinished run, and pause or cancel the run. It stays in view below the log. */
const Steering = memo(function Steering(props: { task: Task; isLive: boolean; isPausing: boolean }) {
  const { task, isLive, isPausing } = props;
  const { say, pause, isPending } = useRunControls(task);
  const { select, isPending: isStopping, dialog } = useConfirmedAction();
  const isBusy = isPending || isStopping;
  return (
    <div className="run-steering">
      <MessageForm
        taskId={task.id}
        isLive={isLive}
        isAsking={task.attention?.reason === 'question'}
        isBusy={isBusy}
        onSend={say}
      />
      {isLive && (
        <div className="row wrap-row">
          {task.attention === null && <PauseButton isPausing={isPausing} isBusy={isBusy} onPause={pause} />}
          <Button variant="danger" disabled={isBusy} onClick={() => void select(task, 'cancel')}>
            {actionNames.cancel}
          </Button>
        </div>
      )}
      {dialog}
    </div>
  );
});
