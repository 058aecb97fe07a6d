import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type * as api from '../api.ts';
import { formatCost, formatMs } from '../display/formats.ts';
import * as queries from '../live/queries.ts';
import { actionsFor } from './actions/task-actions.ts';

/** Says on the page of a task that was never started what it will probably cost. Without an answer it says nothing. */
export function QuoteBox({ task }: { task: api.Task }) {
  const isOffered = task.runCount === 0 && actionsFor(task).includes('start');
  const { data: quote } = useQuery({ ...queries.quote(task.id), enabled: isOffered });
  if (!isOffered || quote === undefined) return null;
  return (
    <section className="box stack tight page-part" aria-label="Quote">
      <p className="wrap">
        {quoteText(quote) ?? <span className="muted">{`No quote yet. ${quote.reason ?? ''}`}</span>}
      </p>
      {quote.costUsd === null && quote.minutes !== null && quote.reason !== null && (
        <p className="muted small wrap">No cost: {quote.reason}</p>
      )}
      {quote.similar.length > 0 && (
        <p className="muted small wrap">
          From {quote.similar.length} similar tasks that are done
          {quote.mergedUnchanged !== null &&
            `, of which ${quote.mergedUnchanged.n} were merged without a request for changes`}
          . The most similar: <Similar ids={quote.similar.slice(0, mostNamed)} />
        </p>
      )}
    </section>
  );
}

const mostNamed = 3;

/** Describes the bounds of a quote; undefined if it has none. */
function quoteText({ costUsd, minutes }: api.Quote): string | undefined {
  const parts = [
    ...(costUsd === null ? [] : [`${formatCost(costUsd.p50)} (at most ${formatCost(costUsd.p80)} in four of five)`]),
    ...(minutes === null ? [] : [`${timeOf(minutes.p50)} of work (at most ${timeOf(minutes.p80)} in four of five)`]),
  ];
  return parts.length === 0 ? undefined : `Half of such tasks need at most ${parts.join(' and ')}.`;
}

const timeOf = (minutes: number) => formatMs(minutes * 60_000);

function Similar({ ids }: { ids: string[] }) {
  return ids.map((id, i) => (
    <span key={id}>
      {i > 0 && ', '}
      <TaskLink id={id} />
    </span>
  ));
}

/** Links a task by its title, which is read for it. */
export function TaskLink({ id }: { id: string }) {
  const { data } = useQuery(queries.task(id));
  return (
    <Link to={`/tasks/${id}`}>
      <bdi>{data?.title ?? 'a task'}</bdi>
    </Link>
  );
}
