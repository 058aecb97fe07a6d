import {
  CheckCircleIcon,
  GitPullRequestIcon,
  IssueOpenedIcon,
  IterationsIcon,
  XCircleIcon,
} from '@primer/octicons-react';
import { memo, useRef } from 'react';
import { Link } from 'react-router';
import type { TaskCard as Card } from '../../api.ts';
import { formatCost } from '../../display/formats.ts';
import { shortId } from '../../display/names.ts';
import { FailureLabel } from '../../display/status-labels.tsx';
import { useDraggable } from '../drag-and-drop.ts';
import { Age } from './age.tsx';
import { CardMenu } from './card-menu.tsx';
import { RunState } from './run-state.tsx';

interface Props {
  task: Card;
  agentName: string | undefined;
  sprintName: string | undefined;
  isSelected: boolean;
  onToggle(id: string): void;
}

/**
 * Shows a task on the board. It can be opened, selected, dragged to another column, or moved with its menu. It is rendered
 * again only when one of its properties changes.
 */
export const TaskCard = memo(function TaskCard({ task, agentName, sprintName, isSelected, onToggle }: Props) {
  const card = useRef<HTMLDivElement>(null);
  const isDragged = useDraggable(card, task.id);
  return (
    <div ref={card} className={`card${isDragged ? ' dragged' : ''}${isSelected ? ' selected' : ''}`}>
      <div className="card-head">
        <input
          type="checkbox"
          className="card-check"
          aria-label={`Select ${task.title.slice(0, 60)}`}
          checked={isSelected}
          onChange={() => onToggle(task.id)}
        />
        <Link to={`/tasks/${task.id}`} className="card-title" data-card={task.id} draggable={false}>
          <bdi>{task.title}</bdi>
        </Link>
        <CardMenu task={task} />
      </div>
      <div className="card-states">
        <RunState run={task.run} />
        <FailureLabel task={task} />
      </div>
      <div className="card-facts">
        <span title={task.id} className="card-id">
          {shortId(task.id)}
        </span>
        <bdi className="card-name">{task.owner === null ? 'No agent' : (agentName ?? 'Agent')}</bdi>
        <Links task={task} />
        <Checks checks={task.checks} />
        {task.costUsd !== null && <span title="Cost of all runs">{formatCost(task.costUsd)}</span>}
        {sprintName !== undefined && (
          <span title={`Sprint: ${sprintName}`} className="card-name">
            <IterationsIcon size={12} /> <bdi>{sprintName}</bdi>
          </span>
        )}
        <Age at={task.createdAt} />
      </div>
    </div>
  );
});

function Links({ task: { issueNumber, prUrl } }: { task: Card }) {
  return (
    <>
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
