import { Button, Label, LinkButton } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, Suspense, useState } from 'react';
import { Link } from 'react-router';
import { decisionPath, inboxNames } from '../../domain/notices/reasons.ts';
import type { InboxEntry, Task } from '../api.ts';
import { Markdown } from '../display/markdown.tsx';
import { Loading } from '../display/query-result.tsx';
import { TimeAgo } from '../display/times.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { actionNames, actionsFor, type TaskAction } from '../tasks/actions/task-actions.ts';
import { FailureText } from '../tasks/failure-notice.tsx';
import { ChangeSummary, isDoubtful, OpenChanges } from './change-summary.tsx';
import { isAboutTask, type TaskEntry } from './outcome.ts';
import { EndSnooze, SnoozeMenu } from './snooze-menu.tsx';
import { useDecision, useInboxAction } from './use-decision.ts';

// Plans and questions are Markdown, which most first visits do without.
const WaitingRun = lazyPart(async () => ({ default: (await import('./waiting-run.tsx')).WaitingRun }));

const EditTaskDialog = lazyPart(async () => ({
  default: (await import('../tasks/editing/edit-task-dialog.tsx')).EditTaskDialog,
}));

/** Characters of an entry's text that are shown when its task cannot be loaded. */
const maxText = 300;

const variants = {
  plan: 'attention',
  question: 'attention',
  push: 'attention',
  paused: 'sponsors',
  review: 'done',
  failed: 'danger',
  automation: 'danger',
  webhook: 'danger',
} as const;

/** Shows a task that needs a person, with everything that is needed to decide it here, or an automation that was switched off. */
export function Entry({ entry }: { entry: InboxEntry }) {
  const { reason, title, since } = entry;
  return (
    <li className="inbox-entry">
      <div className="row wrap-row">
        <Label variant={variants[reason]}>{inboxNames[reason]}</Label>
        <Link to={decisionPath(entry)} className="strong wrap" data-entry>
          <bdi>{title}</bdi>
        </Link>
        <span className="muted">
          <ProjectName id={entry.projectId} />
          <TimeAgo at={since} />
        </span>
        {isAboutTask(entry) && (
          <>
            <span className="grow" />
            {entry.snoozedUntil === undefined ? (
              <SnoozeMenu entry={entry} />
            ) : (
              <EndSnooze entry={entry} until={entry.snoozedUntil} />
            )}
          </>
        )}
      </div>
      {isAboutTask(entry) ? <Decision entry={entry} /> : <p className="wrap">{entry.text}</p>}
    </li>
  );
}

function ProjectName({ id }: { id: string }) {
  const { data: projects } = useQuery(queries.projects());
  const name = projects?.find((project) => project.id === id)?.name;
  if (name === undefined) return null;
  return (
    <>
      <Link to={`/projects/${id}`} className="muted">
        <bdi>{name}</bdi>
      </Link>{' '}
      ·{' '}
    </>
  );
}

function Decision({ entry }: { entry: TaskEntry }) {
  const { data: task, error } = useQuery(queries.task(entry.taskId));
  if (task !== undefined) return <DecisionAbout entry={entry} task={task} />;
  if (!error) return <Loading rows={2} />;
  return (
    <p className="muted wrap">
      <bdi>{entry.text.length > maxText ? `${entry.text.slice(0, maxText)}…` : entry.text}</bdi>
    </p>
  );
}

function DecisionAbout({ entry, task }: { entry: TaskEntry; task: Task }) {
  switch (entry.reason) {
    case 'review':
      return <Review entry={entry} task={task} />;
    case 'failed':
      return <FailedRun entry={entry} task={task} />;
    default:
      return (
        <Suspense fallback={<Loading rows={2} />}>
          <WaitingRun entry={entry} task={task} />
        </Suspense>
      );
  }
}

interface Given {
  entry: TaskEntry;
  task: Task;
}

/** Shows a change that waits for its review. */
function Review({ entry, task }: Given) {
  const { data: change } = useQuery(queries.change(task.id));
  return (
    <div className="stack tight">
      {entry.text !== '' && (
        <div className="inbox-text">
          <Markdown text={entry.text} />
        </div>
      )}
      <ChangeSummary taskId={task.id} />
      <Actions
        entry={entry}
        task={task}
        offered={task.prUrl === null ? ['revise', 'to_done'] : ['merge', 'revise']}
        isDoubtful={task.prUrl !== null && (change === undefined || isDoubtful(change))}
      >
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
function FailedRun({ entry, task }: Given) {
  const [isEditing, setEditing] = useState(false);
  return (
    <div className="stack tight">
      {task.failure !== null && (
        <div className="box failure">
          <FailureText task={task} failure={task.failure} />
        </div>
      )}
      <Actions entry={entry} task={task} offered={['retry']}>
        <Button onClick={() => setEditing(true)}>Edit task</Button>
        <LinkButton as={Link} to={`/tasks/${task.id}?tab=runs`}>
          Open runs
        </LinkButton>
        {task.owner === null && <span className="muted">Assign an agent to the task before you retry.</span>}
      </Actions>
      <Suspense>{isEditing && <EditTaskDialog task={task} onClose={() => setEditing(false)} />}</Suspense>
    </div>
  );
}

/** Shows those of the offered actions that the task allows. The first one is green, unless something speaks against it. */
function Actions(props: Given & { offered: TaskAction[]; isDoubtful?: boolean; children: ReactNode }) {
  const { entry, task, offered, isDoubtful = false, children } = props;
  const steering = useDecision(entry);
  const { select, dialog } = useInboxAction(entry, steering);
  const allowed = actionsFor(task).filter((action) => offered.includes(action));
  return (
    <div className="row wrap-row">
      {allowed.map((action, i) => (
        <Button
          key={action}
          variant={i === 0 && !isDoubtful ? 'primary' : 'default'}
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
