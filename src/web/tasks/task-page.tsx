import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import type { Task } from '../api.ts';
import { Doing, LastLines } from '../display/activity.tsx';
import { costOf, plural } from '../display/formats.ts';
import { queueText, runPath } from '../display/names.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { RunStatus } from '../display/status-labels.tsx';
import { StartedAgo } from '../display/times.tsx';
import { May } from '../forms/may.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { Tabs } from '../frame/tabs.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { MessageForm } from './actions/message-form.tsx';
import { PauseButton } from './actions/pause-button.tsx';
import { isMergeable } from './actions/task-actions.ts';
import { useRunControls } from './actions/use-steering.ts';
import { FailureNotice } from './failure-notice.tsx';
import { CollisionsBox } from './merging/collisions-box.tsx';
import { MergingBox } from './merging/merging-box.tsx';
import { ReadinessBox } from './merging/readiness-box.tsx';
import { OtherWorkBox } from './other-work.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { QuoteBox } from './quote-box.tsx';
import { TaskHeader } from './task-header.tsx';
import { AskedFor } from './timeline/asked-for.tsx';
import { UndoBox } from './undo-box.tsx';
import { AttentionBox } from './waiting/attention-box.tsx';

const RunsTab = lazyPart(async () => ({ default: (await import('./runs-tab.tsx')).RunsTab }));
const ChangesTab = lazyPart(async () => ({ default: (await import('./changes/changes-tab.tsx')).ChangesTab }));
const Chat = lazyPart(async () => ({ default: (await import('../chat/chat.tsx')).Chat }));

export function TaskPage() {
  const { taskId = '' } = useParams();
  const query = useQuery(queries.task(taskId));
  const [searchParams] = useSearchParams();
  usePageTitle(query.data?.title.slice(0, 60));
  return (
    // Code needs the whole width.
    <div className={searchParams.get('tab') === 'diff' ? '' : 'narrow'}>
      <QueryResult query={query} isPage>
        {(task) => <TaskView key={task.id} task={task} />}
      </QueryResult>
    </div>
  );
}

const tabs = { overview: 'Overview', runs: 'Runs', diff: 'Changes', chat: 'Chat' };

function TaskView({ task }: { task: Task }) {
  const [searchParams] = useSearchParams();
  const tab = searchParams.get('tab');
  return (
    <>
      <TaskHeader task={task} />
      <FailureNotice task={task} />
      <AttentionBox task={task} />
      <MergingBox task={task} />
      {tab !== 'diff' && <Surroundings task={task} />}
      <CurrentRun task={task} />
      <Tabs tabs={tabs} label="Task" />
      <Suspense fallback={<Loading />}>
        <TabContent tab={tab} task={task} />
      </Suspense>
    </>
  );
}

/** Shows what else is known about a task. The tab with its changes does without, so that the code is in view. */
function Surroundings({ task }: { task: Task }) {
  return (
    <>
      <OtherWorkBox task={task} />
      <QuoteBox task={task} />
      <UndoBox task={task} />
      <CollisionsBox task={task} />
      {isMergeable(task) && <ReadinessBox task={task} />}
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

/** Shows what the run in progress does now, its last lines, and a field to write to its agent. */
function CurrentRun({ task }: { task: Task }) {
  const isLive = task.status === 'in_progress';
  const { data: runs = [] } = useQuery({ ...queries.runs(task.id), enabled: isLive });
  // Right after a start, the latest run that is known is an earlier one.
  const run = runs.find(({ finishedAt }) => finishedAt === null);
  const { data: sessions = [] } = useQuery({ ...queries.sessions(task.projectId), enabled: isLive });
  const session = sessions.find(({ id }) => id === run?.id);
  const { say, pause, isPending } = useRunControls(task);
  return (
    <section className={isLive ? 'box stack tight page-part' : ''} aria-label="Current run">
      {isLive && run !== undefined && (
        <>
          <div className="row wrap-row">
            <span role="status">
              <RunStatus status={run.status} />
            </span>
            {session?.activity && <Doing activity={session.activity} />}
            <span className="grow" />
            <p className="muted">
              {run.status === 'queued' ? (
                `Waiting to start${session?.status === 'queued' ? ` · ${queueText(session.queuePosition)}` : ''}`
              ) : (
                <>
                  {plural(run.steps, 'step')} · {costOf(run)} ·{' '}
                  {run.startedAt === null ? 'not started yet' : <StartedAgo at={run.startedAt} />}
                </>
              )}
              {' · '}
              <Link to={runPath(task.id, run.id)}>View log</Link>
            </p>
            <May>
              {task.attention === null && (
                <PauseButton isPausing={run.pausing} size="small" isBusy={isPending} onPause={pause} />
              )}
            </May>
          </div>
          <AskedFor run={run} />
          {session !== undefined && <LastLines lines={session.lines} />}
        </>
      )}
      <May>
        <MessageForm
          taskId={task.id}
          isLive={isLive}
          isAsking={task.attention?.reason === 'question'}
          isBusy={isPending}
          onSend={say}
        />
      </May>
    </section>
  );
}
