import { LinkExternalIcon } from '@primer/octicons-react';
import { Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import { budgetText } from '../../domain/budget.ts';
import type { Task } from '../api.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { FailureLabel, TaskStatus } from '../display/status-labels.tsx';
import { TimeAgo } from '../display/times.tsx';
import { Tabs } from '../frame/tabs.tsx';
import { usePageTitle } from '../frame/use-page-title.ts';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { ActionBar } from './actions/action-bar.tsx';
import { CurrentRun } from './current-run.tsx';
import { FailureNotice } from './failure-notice.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { AttentionBox } from './waiting/attention-box.tsx';
import { RunButtons } from './waiting/run-buttons.tsx';

const LogTab = lazyPart(async () => ({ default: (await import('./log/log-tab.tsx')).LogTab }));
const ChangesTab = lazyPart(async () => ({ default: (await import('./changes/changes-tab.tsx')).ChangesTab }));
const Chat = lazyPart(async () => ({ default: (await import('../chat/chat.tsx')).Chat }));

export function TaskPage() {
  const { taskId = '' } = useParams();
  const query = useQuery(queries.task(taskId));
  usePageTitle(query.data?.title.slice(0, 60));
  return (
    <div className="narrow">
      <QueryResult query={query} isPage>
        {(task) => <TaskView key={task.id} task={task} />}
      </QueryResult>
    </div>
  );
}

const tabs = { overview: 'Overview', runs: 'Log', diff: 'Changes', chat: 'Chat' };

function TaskView({ task }: { task: Task }) {
  const [searchParams] = useSearchParams();
  return (
    <>
      <ParentLink parentId={task.parentId} />
      <Heading as="h1" variant="medium" className="wrap">
        <bdi>{task.title}</bdi>
      </Heading>
      <TaskFacts task={task} />
      <FailureNotice task={task} />
      <AttentionBox task={task} />
      {task.status === 'in_progress' && (
        <>
          <CurrentRun task={task} />
          <RunButtons task={task} />
        </>
      )}
      <ActionBar task={task} />
      <Tabs tabs={tabs} label="Task" />
      <Suspense fallback={<Loading />}>
        <TabContent tab={searchParams.get('tab')} task={task} />
      </Suspense>
    </>
  );
}

function TabContent({ tab, task }: { tab: string | null; task: Task }) {
  switch (tab) {
    case 'runs':
      return <LogTab task={task} />;
    case 'diff':
      return <ChangesTab taskId={task.id} />;
    case 'chat':
      return (
        <Chat
          subject={{ kind: 'task', id: task.id }}
          emptyText="Ask the agent about this task: what it did, why, or what is left to do. It can read the repository but does not change it."
        />
      );
    default:
      return <OverviewTab task={task} />;
  }
}

function ParentLink({ parentId }: { parentId: string | null }) {
  const { data } = useQuery({ ...queries.task(parentId ?? ''), enabled: parentId !== null });
  if (data === undefined) return null;
  return (
    <p className="muted">
      Subtask of{' '}
      <Link to={`/tasks/${data.id}`}>
        <bdi>{data.title}</bdi>
      </Link>
    </p>
  );
}

function TaskFacts({ task }: { task: Task }) {
  return (
    <div className="row wrap-row page-head muted">
      <TaskStatus status={task.status} />
      <FailureLabel task={task} />
      <AgentName task={task} />
      {task.budget && <span>Budget: {budgetText(task.budget)} per run</span>}
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
        updated <TimeAgo at={task.updatedAt} />
      </span>
    </div>
  );
}

function AgentName({ task }: { task: Task }) {
  const agents = useQuery(queries.agentsOf(task.projectId));
  if (task.owner === null) return <span>No agent</span>;
  return <span>{agents.data?.find((a) => a.id === task.owner)?.name ?? 'Agent'}</span>;
}
