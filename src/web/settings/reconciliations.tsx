import { Button } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { sentenceCase } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import * as queries from '../live/queries.ts';

/** Shows the latest checks for tasks whose run was lost, for example because a worker stopped, and starts one. */
export function Reconciliations() {
  const client = useQueryClient();
  const query = useQuery(queries.reconciliations());
  const reconcile = useMutation({
    mutationFn: () => api.reconcileTasks(),
    onSuccess: ({ checked, recovered }) => {
      notify(`${plural(checked, 'task')} checked, ${recovered.length} repaired`, 'success');
      return client.invalidateQueries({ queryKey: ['reconciliations'] });
    },
    onError: notifyError,
  });
  return (
    <Section title="Reconciliations">
      <p className="muted">The service regularly looks for tasks whose run was interrupted and repairs them.</p>
      <QueryResult query={query} rows={2}>
        {(reconciliations) => (
          <ul className="list">
            {reconciliations.slice(0, maxShown).map((reconciliation) => (
              <ReconciliationItem key={reconciliation.id} reconciliation={reconciliation} />
            ))}
          </ul>
        )}
      </QueryResult>
      <Button loading={reconcile.isPending} onClick={() => reconcile.mutate()}>
        Reconcile now
      </Button>
    </Section>
  );
}

const maxShown = 5;

function ReconciliationItem({ reconciliation }: { reconciliation: api.Reconciliation }) {
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

const triggerNames: Record<api.Reconciliation['trigger'], string> = {
  manual: 'Manual',
  scheduled: 'Scheduled',
  start: 'At service start',
};
