import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { useParams, useSearchParams } from 'react-router';
import type { Task } from '../api.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { Tabs } from '../frame/tabs.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { CurrentRun } from './current-run.tsx';
import { FailureNotice } from './failure-notice.tsx';
import { TaskHeader } from './header/task-header.tsx';
import { isMergeable } from './merging/is-mergeable.ts';
import { ReadinessBox } from './merging/readiness-box.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { AttentionBox } from './waiting/attention-box.tsx';
import { RunButtons } from './waiting/run-buttons.tsx';

const RunsTab = lazyPart(async () => ({ default: (await import('../runs/runs-tab.tsx')).RunsTab }));
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

const tabs = { overview: 'Overview', runs: 'Runs', diff: 'Changes', chat: 'Chat' };

function TaskView({ task }: { task: Task }) {
  const [searchParams] = useSearchParams();
  return (
    <>
      <TaskHeader task={task} />
      <FailureNotice task={task} />
      <AttentionBox task={task} />
      {task.status === 'in_progress' && <CurrentRun task={task} />}
      <RunButtons task={task} />
      {isMergeable(task) && <ReadinessBox task={task} />}
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
      return <RunsTab task={task} />;
    case 'diff':
      return <ChangesTab task={task} />;
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
