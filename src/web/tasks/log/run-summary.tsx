import { Heading } from '@primer/react';
import { Link } from 'react-router';
import type { Run, Task } from '../../api.ts';
import { formatCost } from '../../display/cost.ts';
import { formatDuration } from '../../display/duration.ts';
import { FactList } from '../../display/fact-list.tsx';
import { failureName, runKindName } from '../../display/names.ts';
import { RunStatus } from '../../display/status-labels.tsx';
import { TimeAgo } from '../../display/times.tsx';
import { Remedy } from '../failure-notice.tsx';

/** Shows what a run cost and how it ended. */
export function RunSummary({ task, run }: { task: Task; run: Run }) {
  const end = run.finishedAt ?? new Date().toISOString();
  return (
    <section className="box" aria-label="Run">
      <Heading as="h2" variant="small" className="row">
        <span>{runKindName(run)}</span> <RunStatus status={run.status} />
      </Heading>
      <FactList
        facts={{
          Started: run.startedAt === null ? 'Waiting to start' : <TimeAgo at={run.startedAt} />,
          Duration: run.startedAt === null ? '–' : formatDuration(run.startedAt, end),
          Steps: run.steps,
          Tokens: tokensOf(run),
          Cost: formatCost(run.costUsd),
        }}
      />
      {run.rewoundFrom && (
        <p>
          Rewound from turn {run.rewoundFrom.turn} of{' '}
          <Link to={`?tab=runs&run=${encodeURIComponent(run.rewoundFrom.runId)}`}>{run.rewoundFrom.runId}</Link>
        </p>
      )}
      {run.failure && (
        <>
          <p className="wrap">
            <span className="strong">Failed ({failureName(run.failure)}): </span>
            {run.failure.message}
          </p>
          <Remedy task={task} failure={run.failure} />
        </>
      )}
    </section>
  );
}

function tokensOf({ inputTokens, cachedInputTokens, outputTokens }: Run): string {
  const total = (inputTokens + outputTokens).toLocaleString();
  return cachedInputTokens === 0 ? total : `${total} (${cachedInputTokens.toLocaleString()} from the cache)`;
}
