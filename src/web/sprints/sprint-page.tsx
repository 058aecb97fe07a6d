import { XIcon } from '@primer/octicons-react';
import { Heading, IconButton, ProgressBar } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import type { Sprint, Task } from '../api.ts';
import * as api from '../api.ts';
import { Facts } from '../display/fact-list.tsx';
import { Markdown } from '../display/markdown.tsx';
import { Empty, Loading, Shown } from '../display/query-result.tsx';
import { Failed, SprintStatus, TaskStatus } from '../display/status-labels.tsx';
import { Day, dollars } from '../display/times.tsx';
import { mutateOnce } from '../forms/submit-once.ts';
import { notifyError } from '../frame/notices.tsx';
import { Tabs } from '../frame/tabs.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import { putTask } from '../live/project-events.ts';
import * as q from '../live/queries.ts';
import { SprintActs } from './sprint-actions.tsx';

const Burndown = lazy(async () => ({ default: (await import('../display/charts.tsx')).Burndown }));
const Chat = lazy(async () => ({ default: (await import('../chat/chat.tsx')).Chat }));

export function SprintPage() {
  const { sprintId = '' } = useParams();
  const asked = useQuery(q.sprint(sprintId));
  useTitle(asked.data?.name, 'Sprint');
  return (
    <div className="narrow">
      <Shown of={asked} isPage>
        {(sprint) => <SprintView key={sprint.id} sprint={sprint} />}
      </Shown>
    </div>
  );
}

function SprintView({ sprint }: { sprint: Sprint }) {
  const [query] = useSearchParams();
  const tab = query.get('tab') ?? 'tasks';
  const isOver = sprint.status === 'completed';
  const tabs = { tasks: 'Tasks', chart: 'Burndown', chat: 'Chat', ...(isOver ? { digest: 'Digest' } : {}) };
  return (
    <>
      <Heading as="h1" variant="medium" className="wrap">
        <bdi>{sprint.name}</bdi>
      </Heading>
      <div className="row wrap-row page-head muted">
        <SprintStatus status={sprint.status} />
        <span>
          <Day date={sprint.startDate} /> to <Day date={sprint.endDate} />
        </span>
      </div>
      {sprint.goal !== '' && <p className="wrap">{sprint.goal}</p>}
      <Figures sprint={sprint} />
      <SprintActs sprint={sprint} />
      <Tabs tabs={tabs} label="Sprint" />
      <Suspense fallback={<Loading />}>
        {tab === 'chart' ? (
          <Chart sprintId={sprint.id} />
        ) : tab === 'chat' ? (
          <Chat
            about={`/sprints/${sprint.id}/chat-with-dev-lead`}
            empty="Ask the dev lead about the sprint: what is late, why something failed, what to do next."
          />
        ) : tab === 'digest' ? (
          <DigestView sprintId={sprint.id} />
        ) : (
          <Tasks sprint={sprint} />
        )}
      </Suspense>
    </>
  );
}

function Figures({ sprint }: { sprint: Sprint }) {
  const asked = useQuery(q.metrics(sprint.id));
  if (asked.data === undefined) return <Loading rows={1} />;
  const { totalTasks, completedTasks, inProgressTasks, remainingTasks, completionPercentage, estimatedCompletion } =
    asked.data;
  return (
    <section className="box" aria-label="Progress">
      <ProgressBar progress={completionPercentage} aria-label={`${completionPercentage} % done`} />
      <Facts
        of={{
          Done: (
            <>
              {completedTasks} of {totalTasks} ({completionPercentage} %)
            </>
          ),
          'In progress': inProgressTasks,
          Left: remainingTasks,
          [sprint.status === 'active' ? 'Estimated end' : 'End']: <Day date={estimatedCompletion} />,
        }}
      />
    </section>
  );
}

function Tasks({ sprint }: { sprint: Sprint }) {
  const asked = useQuery(q.tasks(sprint.projectId));
  const isOpen = sprint.status === 'planning' || sprint.status === 'active';
  return (
    <Shown of={asked}>
      {(all) => {
        const tasks = all.filter((t) => t.sprintId === sprint.id).reverse();
        if (tasks.length === 0)
          return (
            <Empty title="No tasks in it">
              Put some in from the <Link to={`/projects/${sprint.projectId}/backlog`}>backlog</Link>.
            </Empty>
          );
        return (
          <ul className="list">
            {tasks.map((task) => (
              <li key={task.id} className="list-item">
                <Link to={`/tasks/${task.id}`} className="wrap">
                  <bdi>{task.title}</bdi>
                </Link>
                <TaskStatus status={task.status} />
                <Failed task={task} />
                {task.dependsOn.length > 0 && <span className="muted">waits for {task.dependsOn.length}</span>}
                <span className="grow" />
                {isOpen && task.parentId === null && <TakeOut sprintId={sprint.id} task={task} />}
              </li>
            ))}
          </ul>
        );
      }}
    </Shown>
  );
}

/** Puts a task back into the backlog; a run of it goes on. */
function TakeOut({ sprintId, task }: { sprintId: string; task: Task }) {
  const client = useQueryClient();
  const takeOut = useMutation({
    mutationFn: () => api.deleteSprintsBySprintIdTasksByTaskId(sprintId, task.id),
    onSuccess: async () => putTask(client, await api.getTasksById(task.id)),
    onError: notifyError,
  });
  return (
    <IconButton
      icon={XIcon}
      size="small"
      variant="invisible"
      aria-label={`Take ${task.title.slice(0, 60)} out of the sprint`}
      loading={takeOut.isPending}
      onClick={() => mutateOnce(takeOut)}
    />
  );
}

function Chart({ sprintId }: { sprintId: string }) {
  const asked = useQuery(q.burndown(sprintId));
  return (
    <Shown of={asked}>
      {(points) =>
        points.length === 0 ? (
          <Empty title="Not begun">The burndown begins with the first day of the sprint.</Empty>
        ) : (
          <section className="box" aria-label="Burndown">
            <Burndown points={points} />
          </section>
        )
      }
    </Shown>
  );
}

function DigestView({ sprintId }: { sprintId: string }) {
  const asked = useQuery(q.digest(sprintId));
  return (
    <Shown of={asked}>
      {({ markdown, completed, carriedOver, failed, costUsd }) => (
        <section className="box" aria-label="Digest">
          <p className="muted">
            {completed.length} done, {carriedOver.length} carried over, {failed.length} failed, cost {dollars(costUsd)}
          </p>
          <Markdown text={markdown} />
        </section>
      )}
    </Shown>
  );
}
