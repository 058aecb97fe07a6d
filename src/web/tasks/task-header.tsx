import { LinkExternalIcon } from '@primer/octicons-react';
import { Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { budgetText } from '../../domain/budget.ts';
import type { Task } from '../api.ts';
import { shortId } from '../display/names.ts';
import { FailureLabel, PriorityLabel, TaskStatus } from '../display/status-labels.tsx';
import { TimeAgo } from '../display/times.tsx';
import { May, useMay } from '../forms/may.tsx';
import * as agentQueries from '../live/queries/agents.ts';
import * as queries from '../live/queries.ts';
import { ResponsiblePicker } from './actions/responsible-picker.tsx';
import { isMergeable } from './actions/task-actions.ts';
import { mergeReadiness } from './merging/readiness.ts';
import { TaskButtons } from './task-buttons.tsx';
import { effortText, isYetToBegin, type TaskState, taskState } from './task-state.ts';

/** Shows in one line what a task is and the button for what comes next, and below it a sentence that says why. */
export function TaskHeader({ task }: { task: Task }) {
  const mayAct = useMay('member');
  const state = useTaskState(task, !mayAct);
  return (
    <header className="task-head">
      <ParentLink parentId={task.parentId} />
      <div className="row task-head-row">
        <div className="row wrap-row task-name">
          <TaskStatus status={task.status} />
          <Heading as="h1" variant="medium" className="wrap task-title">
            <bdi>{task.title}</bdi>
          </Heading>
          <span className="muted row wrap-row task-facts">
            <code title={task.id}>{shortId(task.id)}</code>
            <AgentName task={task} />
            <ResponsiblePicker task={task} />
            <Effort taskId={task.id} />
            <PriorityLabel priority={task.priority} />
            <FailureLabel task={task} />
          </span>
        </div>
        <May>
          <TaskButtons task={task} state={state} />
        </May>
      </div>
      <p className="wrap state-sentence">{state.sentence}</p>
      {mayAct && state.hints.length > 0 && (
        <ul className="bullets muted" aria-label="What the buttons do">
          {state.hints.map((hint) => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      )}
      <TaskLinks task={task} />
    </header>
  );
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

function AgentName({ task }: { task: Task }) {
  const { data: agents } = useQuery(agentQueries.agentsOf(task.projectId));
  if (task.owner === null) return <span>No agent</span>;
  // Nothing is said before it is known.
  return <bdi>{agents === undefined ? '…' : (agents.find(({ id }) => id === task.owner)?.name ?? 'Agent')}</bdi>;
}

function Effort({ taskId }: { taskId: string }) {
  const { data: runs = [] } = useQuery(queries.runs(taskId));
  const text = effortText(runs);
  return text === undefined ? null : <span>{text}</span>;
}

function TaskLinks({ task }: { task: Task }) {
  return (
    <div className="row wrap-row muted small">
      {task.base !== null && (
        <span>
          Goes into <code>{task.base}</code>
        </span>
      )}
      {task.budget && <span>Budget: {budgetText(task.budget)} per run</span>}
      {task.issueUrl && (
        <a href={task.issueUrl} rel="noopener nofollow" target="_blank">
          Issue #{task.issueNumber} <LinkExternalIcon size={12} />
        </a>
      )}
      {task.issueType !== null && (
        <span>
          Type: <bdi>{task.issueType}</bdi>
        </span>
      )}
      {task.issueAssignees.length > 0 && (
        <span>
          Assigned to <bdi>{task.issueAssignees.join(', ')}</bdi>
        </span>
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

/** Returns what the page says about the state of a task, with what is known about the tasks around it. */
function useTaskState(task: Task, isViewer: boolean): TaskState {
  const { data: related = [] } = useQuery({ ...queries.relatedTasks(task), enabled: task.dependsOn.length > 0 });
  const { data: subtasks = [] } = useQuery({
    ...queries.subtasks(task.id),
    enabled: task.status === 'waiting_on_subtasks',
  });
  const { data: runs } = useQuery({ ...queries.runs(task.id), enabled: task.status === 'in_progress' });
  const { data: readiness } = useQuery({
    ...mergeReadiness(task.id),
    enabled: task.failure !== null && isMergeable(task),
  });
  const isOpen = ({ status }: Pick<Task, 'status'>) => status !== 'done';
  // Right after a start, the latest run that is known is an earlier one.
  const live = runs?.find(({ finishedAt }) => finishedAt === null);
  return taskState(task, {
    openDependencies: related.filter(({ id }) => task.dependsOn.includes(id)).filter(isOpen).length,
    subtasks: subtasks.length,
    openSubtasks: subtasks.filter(isOpen).length,
    isMergeBlocked: readiness?.problems.some(({ blocks }) => blocks) ?? false,
    isQueued: live && isYetToBegin(task, live),
    isViewer,
  });
}
