import { Button, LinkButton } from '@primer/react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { InboxEntry, Task } from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { actionNames, actionsFor, type TaskAction } from '../tasks/actions/task-actions.ts';
import { FailureText } from '../tasks/failure-notice.tsx';
import { ChangeSummary, OpenChanges } from './change-summary.tsx';
import { useDecision } from './use-decision.ts';
import { useInboxAction } from './use-inbox-action.ts';

interface Given {
  entry: InboxEntry;
  task: Task;
}

/** Shows a change that waits for its review. */
export function Review({ entry, task }: Given) {
  return (
    <div className="stack tight">
      {entry.text !== '' && (
        <div className="inbox-text">
          <Markdown text={entry.text} />
        </div>
      )}
      <ChangeSummary taskId={task.id} />
      <Actions entry={entry} task={task} offered={task.prUrl === null ? ['revise', 'to_done'] : ['merge', 'revise']}>
        <OpenChanges taskId={task.id} />
        {task.prUrl !== null && (
          <a href={task.prUrl} rel="noopener nofollow" target="_blank">
            Pull request #{task.prUrl.split('/').at(-1)}
          </a>
        )}
      </Actions>
    </div>
  );
}

/** Shows why a run failed and what to do about it. */
export function FailedRun({ entry, task }: Given) {
  return (
    <div className="stack tight">
      {task.failure !== null && (
        <div className="box failure">
          <FailureText task={task} failure={task.failure} />
        </div>
      )}
      <Actions entry={entry} task={task} offered={['retry']}>
        <LinkButton as={Link} to={`/tasks/${task.id}?tab=runs`}>
          Open runs
        </LinkButton>
        {task.owner === null && <span className="muted">Assign an agent to the task before you retry.</span>}
      </Actions>
    </div>
  );
}

/** Shows those of the offered actions that the task allows. */
function Actions({ entry, task, offered, children }: Given & { offered: TaskAction[]; children: ReactNode }) {
  const steering = useDecision(entry);
  const { select, dialog } = useInboxAction(entry, steering);
  const allowed = actionsFor(task).filter((action) => offered.includes(action));
  return (
    <div className="row wrap-row">
      {allowed.map((action, i) => (
        <Button
          key={action}
          variant={i === 0 ? 'primary' : 'default'}
          disabled={steering.isPending}
          onClick={() => void select(task, action)}
        >
          {actionNames[action]}
        </Button>
      ))}
      {children}
      {dialog}
    </div>
  );
}
