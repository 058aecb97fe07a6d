import { Button } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useParams } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { ActiveRuns } from './active-runs.tsx';
import { Reconciliations } from './reconciliations.tsx';

/** Shows the running and queued runs of a project, and the checks that repair tasks. */
export function RunsPage() {
  usePageTitle('Runs');
  const { projectId = '' } = useParams();
  const client = useQueryClient();
  const reconcile = useMutation({
    mutationFn: () => api.reconcileTasks(),
    onSuccess: ({ checked, recovered }) => {
      notify(`${plural(checked, 'task')} checked, ${recovered.length} repaired`, 'success');
      return client.invalidateQueries({ queryKey: ['reconciliations'] });
    },
    onError: notifyError,
  });
  return (
    <div className="narrow stack">
      <PageHeader title="Runs">
        <Button loading={reconcile.isPending} onClick={() => reconcile.mutate()}>
          Reconcile now
        </Button>
      </PageHeader>
      <ActiveRuns projectId={projectId} />
      <Reconciliations />
    </div>
  );
}
