import { GitPullRequestIcon, IssueOpenedIcon } from '@primer/octicons-react';
import { useRef } from 'react';
import { Link } from 'react-router';
import type { Task } from '../api.ts';
import { FailureLabel } from '../display/status-labels.tsx';
import { TaskMenu } from '../tasks/actions/task-menu.tsx';
import { useDraggable } from './drag-and-drop.ts';

/** Shows a task on the board. It can be opened, dragged to another column, or moved with its menu. */
export function TaskCard({ task, agentName }: { task: Task; agentName: string | undefined }) {
  const card = useRef<HTMLDivElement>(null);
  const isDragged = useDraggable(card, task.id);
  return (
    <div ref={card} className={`card${isDragged ? ' dragged' : ''}`}>
      <div className="row top-aligned">
        <Link to={`/tasks/${task.id}`} className="card-title" data-card={task.id} draggable={false}>
          <bdi>{task.title}</bdi>
        </Link>
        <TaskMenu task={task} />
      </div>
      <div className="row wrap-row muted small">
        <span>{task.owner === null ? 'No agent' : (agentName ?? 'Agent')}</span>
        {task.issueNumber !== null && (
          <span title="Issue">
            <IssueOpenedIcon size={12} /> #{task.issueNumber}
          </span>
        )}
        {task.prUrl !== null && (
          <span title="Pull request">
            <GitPullRequestIcon size={12} /> #{task.prUrl.split('/').at(-1)}
          </span>
        )}
        <FailureLabel task={task} />
      </div>
    </div>
  );
}
