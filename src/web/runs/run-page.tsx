import { May } from '../forms/may.tsx';
import './runs.css';
import { Button, FormControl, Heading, Textarea } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, memo } from 'react';
import { Link, useParams } from 'react-router';
import type { Run, Task } from '../api.ts';
import { costOf, elapsedOf, formatMs, formatNumber } from '../display/formats.ts';
import { runKindName, runPath } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState, FactList } from '../display/sections.tsx';
import { RunStatus } from '../display/status-labels.tsx';
import { TimeAgo, useNow } from '../display/times.tsx';
import { submitOnCtrlEnter } from '../forms/form-dialog.tsx';
import { useDraft } from '../forms/use-draft.ts';
import { usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { actionNames } from '../tasks/actions/task-actions.ts';
import { useRunControls } from '../tasks/actions/use-steering.ts';
import { Remedy } from '../tasks/failure-notice.tsx';
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
      {isLive && (
        <May>
          <Steering task={task} />
        </May>
      )}
      <Receipts run={run} />
      <LogView task={task} run={run} />
    </div>
  );
}

/** Shows what a run has cost so far and how it ended. The figures change with every turn. */
function RunFacts({ task, run }: { task: Task; run: Run }) {
  return (
    <section className="box" aria-label="Run">
      <FactList
        facts={{
          Started: <Start run={run} />,
          Duration: <Duration run={run} />,
          ...(run.waitedSeconds > 0 ? { Waited: formatMs(run.waitedSeconds * 1000) } : {}),
          Steps: formatNumber(run.steps),
          Tokens: tokensOf(run),
          Cost: costOf(run),
        }}
      />
      {run.rewoundFrom && (
        <p>
          Rewound from{' '}
          <Link to={{ pathname: runPath(task.id, run.rewoundFrom.runId), hash: `turn-${run.rewoundFrom.turn}` }}>
            turn {run.rewoundFrom.turn} of an earlier run
          </Link>
        </p>
      )}
      {run.failure && (
        <>
          <p className="wrap">
            <span className="strong">Failed: </span>
            {run.failure.message}
          </p>
          <Remedy task={task} failure={run.failure} />
        </>
      )}
    </section>
  );
}

function Start({ run: { startedAt, finishedAt } }: { run: Run }) {
  if (startedAt !== null) return <TimeAgo at={startedAt} />;
  return finishedAt === null ? 'Waiting to start' : 'Never';
}

/** Shows how long a run has worked. The time for which it waited is a figure of its own. */
function Duration({ run }: { run: Run }) {
  if (run.startedAt === null) return '–';
  return run.finishedAt === null ? <LiveDuration run={run} /> : formatMs(elapsedOf(run, 0));
}

function LiveDuration({ run }: { run: Run }) {
  const now = useNow(1000);
  return <span className="clock">{formatMs(elapsedOf(run, now))}</span>;
}

function tokensOf({ inputTokens, cachedInputTokens, outputTokens }: Run): string {
  const total = formatNumber(inputTokens + outputTokens);
  return cachedInputTokens === 0 ? total : `${total} (${formatNumber(cachedInputTokens)} from the cache)`;
}

/** Lets people write to the agent of an unfinished run, and pause or cancel the run. */
const Steering = memo(function Steering({ task }: { task: Task }) {
  const { say, pause, isPending } = useRunControls(task);
  const { select, isPending: isStopping, dialog } = useConfirmedAction();
  const isBusy = isPending || isStopping;
  return (
    <div className="run-steering">
      <MessageForm place={`message ${task.id}`} isBusy={isBusy} onSend={say} />
      <div className="row wrap-row">
        {task.attention === null && (
          <Button disabled={isBusy} onClick={pause}>
            Pause run
          </Button>
        )}
        <Button variant="danger" disabled={isBusy} onClick={() => void select(task, 'cancel')}>
          {actionNames.cancel}
        </Button>
      </div>
      {dialog}
    </div>
  );
});

function MessageForm(props: { place: string; isBusy: boolean; onSend(text: string): Promise<unknown> }) {
  const { place, isBusy, onSend } = props;
  const draft = useDraft(place, '');
  const text = draft.value.trim();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // The text stays in the field until the service has it.
    if (text !== '' && !isBusy) onSend(text).then(draft.clear, () => {});
  };
  return (
    <form className="row bottom-aligned grow" onSubmit={onSubmit}>
      <FormControl className="grow">
        <FormControl.Label>Message the agent</FormControl.Label>
        <Textarea
          block
          rows={2}
          resize="vertical"
          maxLength={10_000}
          value={draft.value}
          onChange={(event) => draft.set(event.target.value)}
          onKeyDown={submitOnCtrlEnter}
        />
      </FormControl>
      <Button type="submit" disabled={isBusy || text === ''}>
        Send
      </Button>
    </form>
  );
}
