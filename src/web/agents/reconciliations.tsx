import { Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Reconciliation } from '../api.ts';
import { plural } from '../display/formats.ts';
import { sentenceCase } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import * as queries from '../live/queries.ts';

/** Shows the latest checks for tasks whose run was lost, for example because a worker stopped. */
export function Reconciliations() {
  const query = useQuery(queries.reconciliations());
  return (
    <section aria-label="Reconciliations">
      <Heading as="h2" variant="small">
        Reconciliations
      </Heading>
      <p className="muted">The service regularly looks for tasks whose run was interrupted and repairs them.</p>
      <QueryResult query={query}>
        {(reconciliations) =>
          reconciliations.length === 0 ? (
            <EmptyState title="No reconciliations yet">Select “Reconcile now” to check all tasks.</EmptyState>
          ) : (
            <ul className="list">
              {reconciliations.map((reconciliation) => (
                <ReconciliationItem key={reconciliation.id} reconciliation={reconciliation} />
              ))}
            </ul>
          )
        }
      </QueryResult>
    </section>
  );
}

function ReconciliationItem({ reconciliation }: { reconciliation: Reconciliation }) {
  const { finishedAt, trigger, checked, recovered } = reconciliation;
  return (
    <li className="list-item">
      <TimeAgo at={finishedAt} />
      <span className="muted">
        {triggerNames[trigger]} · {plural(checked, 'task')} checked, {recovered.length} repaired
      </span>
      {recovered.map(({ taskId, action, reason }) => (
        <p key={`${taskId} ${action}`} className="wrap">
          <Link to={`/tasks/${taskId}`}>{sentenceCase(action)}</Link>: {reason}
        </p>
      ))}
    </li>
  );
}

const triggerNames: Record<Reconciliation['trigger'], string> = {
  manual: 'Manual',
  scheduled: 'Scheduled',
  start: 'At service start',
};
