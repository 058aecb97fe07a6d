import { Link } from 'react-router';
import type { Run, Task } from '../api.ts';
import { costOf, elapsedOf, formatMs, formatNumber } from '../display/formats.ts';
import { failureName, runPath } from '../display/names.ts';
import { FactList } from '../display/sections.tsx';
import { TimeAgo, useNow } from '../display/times.tsx';
import { Remedy } from '../tasks/failure-notice.tsx';

/** Shows what a run has cost so far and how it ended. The figures change with every turn. */
export function RunFacts({ task, run }: { task: Task; run: Run }) {
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
            <span className="strong">Failed ({failureName(run.failure)}): </span>
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
