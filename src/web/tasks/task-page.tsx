import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import type { Task } from '../api.ts';
import { costOf, plural } from '../display/formats.ts';
import { runPath } from '../display/names.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { RunStatus } from '../display/status-labels.tsx';
import { StartedAgo } from '../display/times.tsx';
import { May } from '../forms/may.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { Tabs } from '../frame/tabs.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
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
import { UndoBox } from './undo-box.tsx';
import { AttentionBox } from './waiting/attention-box.tsx';
import { WordsButton } from './waiting/task-text-dialog.tsx';

const RunsTab = lazyPart(async () => ({ default: (await import('./runs-tab.tsx')).RunsTab }));
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
      <MergingBox task={task} />
      <OtherWorkBox task={task} />
      <QuoteBox task={task} />
      <UndoBox task={task} />
      <CollisionsBox task={task} />
      {task.status === 'in_progress' && <CurrentRun task={task} />}
      <May>
        <RunButtons task={task} />
      </May>
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

/** Shows a line about the run in progress, updated with every step. */
function CurrentRun({ task }: { task: Task }) {
  const { data: [run] = [] } = useQuery(queries.runs(task.id));
  if (run === undefined) return null;
  return (
    <p className="box" role="status">
      <RunStatus status={run.status} />{' '}
      {run.status === 'queued' ? (
        'Waiting to start'
      ) : (
        <>
          {plural(run.steps, 'step')} · {costOf(run)} · <StartedAgo at={run.startedAt ?? run.createdAt} />
        </>
      )}{' '}
      · <Link to={runPath(task.id, run.id)}>Watch this run</Link>
    </p>
  );
}

/**
 * Shows the buttons for a run that is not finished: one to write to its agent, and one to pause it. A message that is being
 * written stays when the run ends.
 */
function RunButtons({ task }: { task: Task }) {
  const { say, pause, isPending } = useRunControls(task);
  const isLive = task.status === 'in_progress';
  return (
    <div className={isLive ? 'row wrap-row page-head' : ''}>
      <WordsButton
        name="Message agent"
        label="What should the agent know?"
        taskId={task.id}
        isDisabled={isPending}
        isOffered={isLive}
        outlivesWaits
        onSubmit={say}
      />
      {isLive && task.attention === null && (
        <Button disabled={isPending} onClick={pause}>
          Pause run
        </Button>
      )}
    </div>
  );
}
