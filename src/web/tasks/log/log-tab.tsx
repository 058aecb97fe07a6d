import { Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { remedies } from '../../../domain/run.ts';
import type { Run, Task } from '../../api.ts';
import { Facts } from '../../display/fact-list.tsx';
import { Empty, Shown } from '../../display/query-result.tsx';
import { RunStatus } from '../../display/status-labels.tsx';
import { dollars, duration, When } from '../../display/times.tsx';
import * as q from '../../live/queries.ts';
import { RunLog } from './run-log.tsx';

/** The runs of a task and the log of the chosen one; the newest when none is chosen. */
export function TaskRuns({ task }: { task: Task }) {
  const asked = useQuery(q.runs(task.id));
  const [query, setQuery] = useSearchParams();
  return (
    <Shown of={asked}>
      {(runs) => {
        const chosen = runs.find((r) => r.id === query.get('run')) ?? runs[0];
        if (chosen === undefined) return <Empty title="No run yet">Start the task, and its log shows here live.</Empty>;
        return (
          <div className="stack">
            {runs.length > 1 && (
              <ul className="list" aria-label="Runs">
                {runs.map((run) => (
                  <li key={run.id}>
                    <button
                      type="button"
                      className="plain row wrap-row"
                      aria-pressed={run.id === chosen.id}
                      onClick={() => setQuery({ tab: 'runs', run: run.id })}
                    >
                      <RunStatus status={run.status} /> {run.kind} <When at={run.createdAt} />
                    </button>
                  </li>
                ))}
              </ul>
            )}
            <RunFacts run={chosen} />
            <RunLog key={chosen.id} runId={chosen.id} />
          </div>
        );
      }}
    </Shown>
  );
}

function RunFacts({ run }: { run: Run }) {
  const ended = run.finishedAt ?? new Date().toISOString();
  return (
    <section className="box" aria-label="The run">
      <Heading as="h2" variant="small" className="row">
        <span>{run.kind}</span> <RunStatus status={run.status} />
      </Heading>
      <Facts
        of={{
          Began: <>{run.startedAt === null ? 'waits for its turn' : <When at={run.startedAt} />}</>,
          Took: run.startedAt === null ? '–' : duration(run.startedAt, ended),
          Steps: run.steps,
          Tokens: (run.inputTokens + run.outputTokens).toLocaleString(),
          Cost: dollars(run.costUsd),
        }}
      />
      {run.failure && (
        <p className="wrap">
          <span className="strong">{run.failure.category.replaceAll('_', ' ')}: </span>
          {run.failure.message}
          <br />
          {remedies[run.failure.category]}
        </p>
      )}
    </section>
  );
}
