import { Button, Heading } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { runKindName, runPath, sentenceCase } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { RunStatus } from '../display/status-labels.tsx';
import { StartedAgo, TimeAgo } from '../display/times.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';

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

/** Shows the tasks in progress with their newest run. */
function ActiveRuns({ projectId }: { projectId: string }) {
  const query = useQuery(queries.tasks(projectId));
  return (
    <section aria-label="Active runs">
      <Heading as="h2" variant="small">
        Active runs
      </Heading>
      <QueryResult query={query} rows={3}>
        {(allTasks) => {
          const tasks = allTasks.filter((t) => t.status === 'in_progress');
          if (tasks.length === 0)
            return <EmptyState title="No active runs">Start a task to see its run here.</EmptyState>;
          return (
            <ul className="list">
              {tasks.map((task) => (
                <li key={task.id} className="list-item">
                  <Link to={`/tasks/${task.id}`} className="wrap">
                    <bdi>{task.title}</bdi>
                  </Link>
                  {task.run !== null && <NewestRun taskId={task.id} run={task.run} />}
                </li>
              ))}
            </ul>
          );
        }}
      </QueryResult>
    </section>
  );
}

function NewestRun({ taskId, run }: { taskId: string; run: api.CardRun }) {
  return (
    <>
      <RunStatus status={run.status} />
      <span className="muted">
        <Link to={runPath(taskId, run.id)}>{runKindName(run)}</Link> · {plural(run.steps, 'step')} ·{' '}
        {run.startedAt === null ? 'waiting to start' : <StartedAgo at={run.startedAt} />}
      </span>
    </>
  );
}

/** Shows the latest checks for tasks whose run was lost, for example because a worker stopped. */
function Reconciliations() {
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
