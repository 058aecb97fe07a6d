import {
  CheckCircleIcon,
  ClockIcon,
  DotFillIcon,
  GitBranchIcon,
  GitCompareIcon,
  GitMergeIcon,
  GitPullRequestIcon,
  IssueOpenedIcon,
  IterationsIcon,
  KebabHorizontalIcon,
  PauseIcon,
  XCircleIcon,
} from '@primer/octicons-react';
import { Label } from '@primer/react';
import { memo, Suspense, useRef } from 'react';
import { Link } from 'react-router';
import { inboxNames } from '../../domain/notices/reasons.ts';
import { isForPerson } from '../../domain/waiting.ts';
import type { Board, TaskCard as Card, CardRun, Session } from '../api.ts';
import { Doing } from '../display/activity.tsx';
import { ageText, clockText, elapsedOf, formatCost } from '../display/formats.ts';
import { exactTime, shortId, waitNames } from '../display/names.ts';
import { FailureLabel, PersonMark, PriorityLabel } from '../display/status-labels.tsx';
import { useNow, useTimeText } from '../display/times.tsx';
import { May, useMay } from '../forms/may.tsx';
import { lazyPart } from '../live/load-part.ts';
import { useDraggable } from './drag-and-drop.ts';
import { useLazyMenu } from './use-lazy-menu.ts';

interface Props {
  task: Card;
  /** What its run does now, if it is running. */
  activity: NonNullable<Session['activity']> | undefined;
  agentName: string | undefined;
  responsible: Board['people'][number] | undefined;
  sprintName: string | undefined;
  isSelected: boolean;
  onToggle(id: string): void;
}

/**
 * Shows a task on the board. It can be opened, selected, dragged to another column, or moved with its menu. It is rendered
 * again only when one of its properties changes.
 */
export const TaskCard = memo(function TaskCard(props: Props) {
  const { task, activity, agentName, responsible, sprintName, isSelected, onToggle } = props;
  const card = useRef<HTMLDivElement>(null);
  const isDragged = useDraggable(card, task.id, useMay('member'));
  return (
    <div ref={card} className={`card${isDragged ? ' dragged' : ''}${isSelected ? ' selected' : ''}`}>
      <div className="card-head">
        <May>
          <input
            type="checkbox"
            className="card-check plain-check"
            aria-label={`Select ${task.title.slice(0, 60)}`}
            checked={isSelected}
            onChange={() => onToggle(task.id)}
          />
        </May>
        <Link to={`/tasks/${task.id}`} className="card-title" data-card={task.id} draggable={false}>
          <bdi>{task.title}</bdi>
        </Link>
        <May>
          <CardMenu task={task} />
        </May>
      </div>
      <div className="card-states">
        <PriorityLabel priority={task.priority} />
        <RunState run={task.run} />
        <FailureLabel task={task} />
        {task.collisions > 0 && (
          <Label variant="attention" title="It cannot be merged together with other open pull requests">
            <GitCompareIcon size={12} /> Collides with {task.collisions}
          </Label>
        )}
        {task.merging !== null && (
          <Label variant="done" title="GitHub merges it when it is ready">
            <GitMergeIcon size={12} /> {task.merging === 'queued' ? 'In merge queue' : 'Merges when ready'}
          </Label>
        )}
      </div>
      {activity !== undefined && task.run?.status === 'running' && (
        <div className="card-doing">
          <Doing activity={activity} />
        </div>
      )}
      <div className="card-foot">
        <div className="card-facts">
          <span title={task.id} className="card-id">
            {shortId(task.id)}
          </span>
          {task.owner !== null && <AgentName name={agentName ?? 'Agent'} />}
          {responsible !== undefined && <Responsible person={responsible} />}
          <Links task={task} />
          <Checks checks={task.checks} />
          {task.costUsd !== null && <span title="Cost of all runs">{formatCost(task.costUsd)}</span>}
          {sprintName !== undefined && (
            <span title={`Sprint: ${sprintName}`} className="card-name">
              <IterationsIcon size={12} /> <bdi>{sprintName}</bdi>
            </span>
          )}
        </div>
        <Age at={task.createdAt} />
      </div>
    </div>
  );
});

/** Shows an agent with its initial in a square, as people have theirs in a circle. */
function AgentName({ name }: { name: string }) {
  return (
    <span className="card-name card-agent">
      <span className="agent-initial" aria-hidden="true">
        {name.slice(0, 1)}
      </span>
      <bdi>{name}</bdi>
    </span>
  );
}

function Responsible({ person: { login, avatarUrl } }: { person: Board['people'][number] }) {
  return (
    <span title={`Responsible: ${login}`}>
      <PersonMark login={login} avatarUrl={avatarUrl} size={16} />
      <span className="sr-only">Responsible: {login}</span>
    </span>
  );
}

function Links({ task: { base, issueNumber, prUrl } }: { task: Card }) {
  return (
    <>
      {base !== null && (
        <span title={`Goes into ${base}`} className="card-name">
          <GitBranchIcon size={12} /> <bdi>{base}</bdi>
        </span>
      )}
      {issueNumber !== null && (
        <span title="Issue">
          <IssueOpenedIcon size={12} /> #{issueNumber}
        </span>
      )}
      {prUrl !== null && (
        <span title="Pull request">
          <GitPullRequestIcon size={12} /> #{prUrl.split('/').at(-1)}
        </span>
      )}
    </>
  );
}

function Checks({ checks }: { checks: Card['checks'] }) {
  if (checks === null) return null;
  const hasPassed = checks === 'passed';
  const Icon = hasPassed ? CheckCircleIcon : XCircleIcon;
  return (
    <span className={hasPassed ? 'checks-passed' : 'checks-failed'}>
      <Icon size={12} aria-label={hasPassed ? 'Checks passed' : 'Checks failed'} />
    </span>
  );
}

/** Shows how old a task is, with the exact time on hover. */
function Age({ at }: { at: string }) {
  const age = useTimeText((now) => ageText(now - Date.parse(at)));
  return (
    <time className="card-age" dateTime={at} title={`Created ${exactTime(at)}`}>
      {age}
    </time>
  );
}

const TaskMenu = lazyPart(async () => ({ default: (await import('./task-menu.tsx')).TaskMenu }));

/** Shows the button that opens the menu of a card. A menu for each of the visible cards would make the board slow. */
function CardMenu({ task }: { task: Card }) {
  const { button, menu } = useLazyMenu();
  return (
    <>
      <button type="button" className="icon-button" aria-label={`Actions for ${task.title.slice(0, 60)}`} {...button}>
        <KebabHorizontalIcon />
      </button>
      <Suspense>{menu && <TaskMenu task={task} {...menu} />}</Suspense>
    </>
  );
}

/** Shows whether the run of a task is running, queued or waiting, and for how long it has done that. */
function RunState({ run }: { run: CardRun | null }) {
  switch (run?.status) {
    case 'running':
      return (
        <Label variant="attention" title="An agent is working on this task">
          <DotFillIcon size={12} /> Running <Elapsed run={run} />
        </Label>
      );
    case 'queued':
      return (
        <Label variant="secondary" title="The run starts when an agent is free">
          <ClockIcon size={12} /> Queued <Elapsed run={run} />
        </Label>
      );
    case 'waiting':
      return (
        <Label variant="sponsors" title={`Waits since ${exactTime(run.waitingSince ?? run.createdAt)}`}>
          <PauseIcon size={12} /> {waitName(run.waitReason)} <Waited since={run.waitingSince ?? run.createdAt} />
        </Label>
      );
    default:
      return null;
  }
}

function waitName(reason: CardRun['waitReason']): string {
  if (reason !== null && isForPerson(reason)) return inboxNames[reason];
  return waitNames[reason ?? 'model'];
}

function Elapsed({ run }: { run: CardRun }) {
  const now = useNow(1000);
  return <span className="clock">{clockText(elapsedOf(run, now))}</span>;
}

/** Shows how long a run has waited. The clock of its work stands still, and would look as if nobody had been asked yet. */
function Waited({ since }: { since: string }) {
  const now = useNow(1000);
  return <span className="clock">{clockText(now - Date.parse(since))}</span>;
}
