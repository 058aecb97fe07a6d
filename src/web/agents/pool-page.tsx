import { Button, Heading } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import * as api from '../api.ts';
import { counted } from '../display/plural.ts';
import { Empty, Shown } from '../display/query-result.tsx';
import { RunStatus } from '../display/status-labels.tsx';
import { When } from '../display/times.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { PageHead } from '../frame/page-header.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';

/** What runs, what waits for its turn, and what was put right. */
export function PoolPage() {
  useTitle('Pool');
  const { projectId = '' } = useParams();
  const asked = useQuery(q.tasks(projectId));
  const client = useQueryClient();
  const reconcile = useMutation({
    mutationFn: () => api.postAgentsPoolReconcile(),
    onSuccess: ({ checked, recovered }) => {
      notify(`${counted(checked, 'task')} looked at, ${recovered.length} put right.`, 'success');
      return client.invalidateQueries({ queryKey: ['reconciliations'] });
    },
    onError: notifyError,
  });
  return (
    <div className="narrow stack">
      <PageHead title="Pool">
        <Button loading={reconcile.isPending} onClick={() => reconcile.mutate()}>
          Reconcile now
        </Button>
      </PageHead>
      <section aria-label="At work">
        <Heading as="h2" variant="small">
          Running and waiting
        </Heading>
        <Shown of={asked} rows={3}>
          {(tasks) => <AtWork tasks={tasks.filter((t) => t.status === 'in_progress')} />}
        </Shown>
      </section>
      <Reconciliations />
    </div>
  );
}

function AtWork({ tasks }: { tasks: api.Task[] }) {
  if (tasks.length === 0) return <Empty title="Nobody is at work">Start a task, and it shows here.</Empty>;
  return (
    <ul className="list">
      {tasks.map((task) => (
        <li key={task.id} className="list-item">
          <Link to={`/tasks/${task.id}?tab=runs`} className="wrap">
            <bdi>{task.title}</bdi>
          </Link>
          <NewestRun taskId={task.id} />
        </li>
      ))}
    </ul>
  );
}

function NewestRun({ taskId }: { taskId: string }) {
  const { data } = useQuery(q.runs(taskId));
  const [run] = data ?? [];
  if (run === undefined) return null;
  return (
    <>
      <RunStatus status={run.status} />
      <span className="muted">
        {run.kind}, {run.steps} steps, since <When at={run.startedAt ?? run.createdAt} />
      </span>
    </>
  );
}

function Reconciliations() {
  const asked = useQuery(q.reconciliations());
  return (
    <section aria-label="Reconciliations">
      <Heading as="h2" variant="small">
        Reconciliations
      </Heading>
      <Shown of={asked}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="None yet">They come every quarter of an hour.</Empty>
          ) : (
            <ul className="list">
              {all.map(({ id, finishedAt, trigger, checked, recovered }) => (
                <li key={id} className="list-item">
                  <When at={finishedAt} />
                  <span className="muted">
                    {trigger}, {counted(checked, 'task')} looked at, {recovered.length} put right
                  </span>
                  {recovered.map(({ taskId, action, reason }) => (
                    <p key={`${taskId} ${action}`} className="wrap">
                      <Link to={`/tasks/${taskId}`}>{action}</Link>: {reason}
                    </p>
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}
