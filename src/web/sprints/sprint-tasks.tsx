import { XIcon } from '@primer/octicons-react';
import { Button, Flash, IconButton } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Link } from 'react-router';
import * as api from '../api.ts';
import { plural } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { FailureLabel, TaskStatus } from '../display/status-labels.tsx';
import { FormButtons, FormDialog } from '../forms/form-dialog.tsx';
import { May, useMay } from '../forms/may.tsx';
import { SearchPicker } from '../forms/search-picker.tsx';
import { mutateOnce, submitOnce } from '../forms/submit.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { errorMessage } from '../live/errors.ts';
import { putTask } from '../live/put-task.ts';
import * as queries from '../live/queries.ts';
import { RowLine } from '../rows/row-actions.tsx';
import { isOpenSprint } from './is-open-sprint.ts';

export function SprintTasks({ sprint }: { sprint: api.Sprint }) {
  const query = useQuery(queries.board(sprint.projectId));
  const mayAdd = useMay('member');
  return (
    <QueryResult query={query}>
      {({ tasks: allTasks, agents }) => {
        const nameOfAgent = (owner: string | null) =>
          owner === null ? undefined : (agents.find(({ id }) => id === owner)?.name ?? 'Agent');
        const tasks = allTasks.filter((t) => t.sprintId === sprint.id).sort(oldestFirst);
        return (
          <>
            {isOpenSprint(sprint) && (
              <May>
                <AddTasks sprint={sprint} allTasks={allTasks} />
              </May>
            )}
            {tasks.length === 0 && (
              <EmptyState title="This sprint has no tasks">
                {mayAdd && (
                  <>
                    Add tasks here, or from the <Link to={`/projects/${sprint.projectId}/backlog`}>backlog</Link>.
                  </>
                )}
              </EmptyState>
            )}
            <ul className="list">
              {tasks.map((task) => (
                <SprintTask key={task.id} sprint={sprint} task={task} agentName={nameOfAgent(task.owner)} />
              ))}
            </ul>
          </>
        );
      }}
    </QueryResult>
  );
}

/** Shows a task of a sprint. `agentName` is undefined for a task without an agent. */
function SprintTask(props: { sprint: api.Sprint; task: api.TaskCard; agentName: string | undefined }) {
  const { sprint, task, agentName } = props;
  return (
    <li className="list-item">
      <RowLine
        actions={
          isOpenSprint(sprint) &&
          task.parentId === null && (
            <May>
              <RemoveFromSprint sprintId={sprint.id} task={task} />
            </May>
          )
        }
      >
        <Link to={`/tasks/${task.id}`} className="wrap">
          <bdi>{task.title}</bdi>
        </Link>
        <TaskStatus status={task.status} />
        <FailureLabel task={task} />
        <span className="muted">{agentName === undefined ? 'No agent' : <bdi>{agentName}</bdi>}</span>
        {task.dependsOn.length > 0 && <span className="muted">Depends on {plural(task.dependsOn.length, 'task')}</span>}
      </RowLine>
    </li>
  );
}

/** Compares tasks by the order in which a sprint starts them. */
function oldestFirst(a: api.TaskCard, b: api.TaskCard): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1);
}

/** Moves the focus from a row that is about to disappear to the same button of the next row, or of the one before. */
function focusNextRow(button: HTMLElement | null): void {
  const row = button?.closest('li');
  if (!row?.contains(document.activeElement)) return;
  (row.nextElementSibling ?? row.previousElementSibling)?.querySelector('button')?.focus();
}

/** Moves a task back to the backlog. Its run, if any, continues. */
function RemoveFromSprint({ sprintId, task }: { sprintId: string; task: api.TaskCard }) {
  const client = useQueryClient();
  const button = useRef<HTMLButtonElement>(null);
  const putBack = useMutation({
    mutationFn: () => api.addSprintTasks(sprintId, { taskIds: [task.id] }),
    onSuccess: (added) => added.map((each) => putTask(client, each)),
    onError: notifyError,
  });
  const remove = useMutation({
    mutationFn: () => api.removeSprintTask(sprintId, task.id),
    onSuccess: async () => {
      const removed = await api.getTask(task.id);
      focusNextRow(button.current);
      putTask(client, removed);
      notify(`Removed from the sprint: ${task.title}`, 'success', { name: 'Undo', act: () => putBack.mutate() });
    },
    onError: notifyError,
  });
  return (
    <IconButton
      ref={button}
      icon={XIcon}
      size="small"
      variant="invisible"
      aria-label={`Remove ${task.title.slice(0, 60)} from the sprint`}
      loading={remove.isPending}
      onClick={() => mutateOnce(remove)}
    />
  );
}

/** Shows a button that opens a dialog, in which people search tasks and add them to a sprint. */
function AddTasks({ sprint, allTasks }: { sprint: api.Sprint; allTasks: api.TaskCard[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="page-head">
      <Button onClick={() => setOpen(true)}>Add tasks</Button>
      {isOpen && <AddTasksDialog sprint={sprint} allTasks={allTasks} onClose={() => setOpen(false)} />}
    </div>
  );
}

function AddTasksDialog(props: { sprint: api.Sprint; allTasks: api.TaskCard[]; onClose(): void }) {
  const { sprint, allTasks, onClose } = props;
  const client = useQueryClient();
  const [taskIds, setTaskIds] = useState<string[]>([]);
  const add = useMutation({
    mutationFn: () => api.addSprintTasks(sprint.id, { taskIds }),
    onSuccess: (added) => {
      for (const task of added) putTask(client, task);
      onClose();
    },
  });
  const { data: sprints } = useQuery(queries.sprints(sprint.projectId));
  const nameOf = (id: string) => sprints?.find((each) => each.id === id)?.name ?? 'another sprint';
  // Subtasks move with their parents.
  const options = allTasks.filter((t) => t.sprintId !== sprint.id && t.status !== 'done' && t.parentId === null);
  return (
    <FormDialog title={`Add tasks to ${sprint.name}`} onClose={onClose}>
      <form className="stack" onSubmit={submitOnce(add, () => taskIds.length > 0)}>
        {add.error && <Flash variant="danger">{errorMessage(add.error)}</Flash>}
        <SearchPicker
          label="Tasks"
          selected={taskIds}
          options={options.map(({ id, title, sprintId }) => ({
            id,
            name: sprintId === null ? title : `${title} (in ${nameOf(sprintId)})`,
          }))}
          none="Every open task of the project is in this sprint already, or was chosen."
          onSelect={setTaskIds}
        />
        <FormButtons
          submit={taskIds.length === 0 ? 'Add tasks' : `Add ${plural(taskIds.length, 'task')}`}
          isBusy={add.isPending}
          onCancel={onClose}
        />
      </form>
    </FormDialog>
  );
}
