import { GitPullRequestIcon, IssueOpenedIcon } from '@primer/octicons-react';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import type { Task } from '../api.ts';
import { Failed } from '../display/status-labels.tsx';
import { TaskMenu } from '../tasks/actions/task-menu.tsx';

/** A task on the board: to open, to drag, and to move by its menu. */
export function TaskCard({ task, agentName }: { task: Task; agentName: string | undefined }) {
  const ref = useRef<HTMLDivElement>(null);
  const [isDragged, setDragged] = useState(false);
  useEffect(() => {
    let end: (() => void) | undefined;
    let isGone = false;
    // The board works without it; so it is not waited for.
    import('@atlaskit/pragmatic-drag-and-drop/element/adapter').then(({ draggable }) => {
      if (ref.current === null || isGone) return;
      end = draggable({
        element: ref.current,
        getInitialData: () => ({ taskId: task.id }),
        onDragStart: () => setDragged(true),
        onDrop: () => setDragged(false),
      });
    });
    return () => {
      isGone = true;
      end?.();
    };
  }, [task.id]);
  return (
    <div ref={ref} className={`card${isDragged ? ' dragged' : ''}`}>
      <div className="row top-aligned">
        <Link to={`/tasks/${task.id}`} className="card-title" data-card={task.id} draggable={false}>
          <bdi>{task.title}</bdi>
        </Link>
        <TaskMenu task={task} />
      </div>
      <div className="row wrap-row muted small">
        <span>{agentName ?? (task.owner === null ? 'no agent' : 'agent')}</span>
        {task.issueNumber !== null && (
          <span>
            <IssueOpenedIcon size={12} /> #{task.issueNumber}
          </span>
        )}
        {task.prUrl !== null && (
          <span title="has a pull request">
            <GitPullRequestIcon size={12} /> #{task.prUrl.split('/').at(-1)}
          </span>
        )}
        <Failed task={task} />
      </div>
    </div>
  );
}
