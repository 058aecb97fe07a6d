import { LinkExternalIcon } from '@primer/octicons-react';
import { Button, Heading, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import { remedies } from '../../domain/run.ts';
import * as api from '../api.ts';
import { Loading, Shown } from '../display/query-result.tsx';
import { Failed, RunStatus, TaskStatus } from '../display/status-labels.tsx';
import { dollars, When } from '../display/times.tsx';
import { notifyError } from '../frame/notices.tsx';
import { Tabs } from '../frame/tabs.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { actNames, actsOf } from './actions/task-actions.ts';
import { useChosenAct } from './actions/task-menu.tsx';
import { EditTask } from './edit-task-dialog.tsx';
import { TaskOverview } from './overview-tab.tsx';

const TaskRuns = lazy(async () => ({ default: (await import('./log/log-tab.tsx')).TaskRuns }));
const TaskDiff = lazy(async () => ({ default: (await import('./changes/changes-tab.tsx')).TaskDiff }));
const Chat = lazy(async () => ({ default: (await import('../chat/chat.tsx')).Chat }));

export function TaskPage() {
  const { taskId = '' } = useParams();
  const asked = useQuery(q.task(taskId));
  useTitle(asked.data?.title.slice(0, 60));
  return (
    <div className="narrow">
      <Shown of={asked} isPage>
        {(task) => <Task key={task.id} task={task} />}
      </Shown>
    </div>
  );
}

const tabs = { overview: 'Overview', runs: 'Log', diff: 'Changes', chat: 'Chat' };

function Task({ task }: { task: api.Task }) {
  const [query] = useSearchParams();
  const tab = query.get('tab') ?? 'overview';
  const parent = useQuery({ ...q.task(task.parentId ?? ''), enabled: task.parentId !== null });
  return (
    <>
      {parent.data && (
        <p className="muted">
          Subtask of{' '}
          <Link to={`/tasks/${parent.data.id}`}>
            <bdi>{parent.data.title}</bdi>
          </Link>
        </p>
      )}
      <Heading as="h1" variant="medium" className="wrap">
        <bdi>{task.title}</bdi>
      </Heading>
      <div className="row wrap-row page-head muted">
        <TaskStatus status={task.status} />
        <Failed task={task} />
        <Owner task={task} />
        {task.issueUrl && (
          <a href={task.issueUrl} rel="noopener nofollow" target="_blank">
            Issue #{task.issueNumber} <LinkExternalIcon size={12} />
          </a>
        )}
        {task.prUrl && (
          <a href={task.prUrl} rel="noopener nofollow" target="_blank">
            Pull request #{task.prUrl.split('/').at(-1)} <LinkExternalIcon size={12} />
          </a>
        )}
        <span>
          changed <When at={task.updatedAt} />
        </span>
      </div>
      {task.failure && (
        <section className="box failure" aria-label="The last failure">
          <p className="wrap strong">
            The last run failed ({task.failure.category.replaceAll('_', ' ')}): {task.failure.message}
          </p>
          <p>{remedies[task.failure.category]}</p>
        </section>
      )}
      {task.status === 'in_progress' && <Now taskId={task.id} />}
      <Acts task={task} />
      <Tabs tabs={tabs} label="Task" />
      <Suspense fallback={<Loading />}>
        {tab === 'runs' ? (
          <TaskRuns task={task} />
        ) : tab === 'diff' ? (
          <TaskDiff taskId={task.id} />
        ) : tab === 'chat' ? (
          <Chat
            about={`/tasks/${task.id}/chat`}
            empty="Ask the task's agent about it: what it did, why, what is left. It reads the repository and changes nothing."
          />
        ) : (
          <TaskOverview task={task} />
        )}
      </Suspense>
    </>
  );
}

/** What its run is doing; it comes anew with every step. */
function Now({ taskId }: { taskId: string }) {
  const { data: [run] = [] } = useQuery(q.runs(taskId));
  if (run === undefined) return null;
  return (
    <p className="box" role="status">
      <RunStatus status={run.status} />{' '}
      {run.status === 'queued' ? (
        'waits for its turn'
      ) : (
        <>
          {run.steps} steps, {dollars(run.costUsd)}, since <When at={run.startedAt ?? run.createdAt} />
        </>
      )}{' '}
      · <Link to="?tab=runs">watch the log</Link>
    </p>
  );
}

function Owner({ task }: { task: api.Task }) {
  const agents = useQuery(q.agentsOf(task.projectId));
  const name = agents.data?.find((a) => a.id === task.owner)?.name;
  return <span>{task.owner === null ? 'no agent' : (name ?? 'an agent')}</span>;
}

function Acts({ task }: { task: api.Task }) {
  const { choose, isPending, dialog } = useChosenAct();
  const [isEdited, setEdited] = useState(false);
  const confirm = useConfirm();
  const go = useNavigate();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.deleteTasksById(task.id),
    onSuccess: async () => {
      await go(`/projects/${task.projectId}`);
      client.setQueryData<api.Task[]>(q.tasks(task.projectId).queryKey, (list) =>
        list?.filter((t) => t.id !== task.id),
      );
    },
    onError: notifyError,
  });
  const ask = async () => {
    const isSure = await confirm({
      title: 'Delete the task',
      content: 'The task, its runs and its chat are gone for good. Branches and pull requests on GitHub stay.',
      confirmButtonContent: 'Delete',
      confirmButtonType: 'danger',
    });
    if (isSure) remove.mutate();
  };
  const [first] = actsOf(task);
  return (
    <div className="row wrap-row page-head">
      {actsOf(task).map((act) => (
        <Button
          key={act}
          variant={act === first && act !== 'cancel' ? 'primary' : act === 'cancel' ? 'danger' : 'default'}
          disabled={isPending}
          onClick={() => void choose(task, act)}
        >
          {actNames[act]}
        </Button>
      ))}
      {task.owner === null && task.status !== 'done' && <span className="muted">Give it an agent to start it.</span>}
      <span className="grow" />
      <Button onClick={() => setEdited(true)}>Edit</Button>
      <Button variant="danger" onClick={() => void ask()}>
        Delete
      </Button>
      {isEdited && <EditTask task={task} onClose={() => setEdited(false)} />}
      {dialog}
    </div>
  );
}
