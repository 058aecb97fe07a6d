import { KebabHorizontalIcon } from '@primer/octicons-react';
import { ActionList, ActionMenu, Button, IconButton, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { lazyPart } from '../live/load-part.ts';
import { dropTask, putTask } from '../live/put-task.ts';
import * as agentQueries from '../live/queries/agents.ts';
import { actionNames, type TaskAction } from './actions/task-actions.ts';
import { mergeReadiness } from './merging/readiness.ts';
import type { TaskState } from './task-state.ts';
import { useConfirmedAction } from './use-confirmed-action.tsx';

const EditTaskDialog = lazyPart(async () => ({
  default: (await import('./editing/edit-task-dialog.tsx')).EditTaskDialog,
}));

/** Shows the button for what comes next. Merge is green only if nothing speaks against it. */
function PrimaryButton(props: { task: api.Task; action: TaskAction; isDisabled: boolean; onSelect(): void }) {
  const { task, action, isDisabled, onSelect } = props;
  const { data } = useQuery({ ...mergeReadiness(task.id), enabled: action === 'merge' });
  const isDoubtful = action === 'merge' && data?.problems.length !== 0;
  return (
    <Button variant={isDoubtful ? 'default' : 'primary'} disabled={isDisabled} onClick={onSelect}>
      {actionNames[action]}
    </Button>
  );
}

/** Shows the buttons of a task's page: the one for what comes next, others that fit, and a menu with the rest. */
export function TaskButtons({ task, state }: { task: api.Task; state: TaskState }) {
  const { select, isPending, dialog } = useConfirmedAction();
  const [isEditing, setEditing] = useState(false);
  const remove = useDeleteTask(task);
  const { primary, others, rare } = state;
  return (
    <div className="row wrap-row">
      {primary === 'assign' && <AssignAgent task={task} />}
      {primary !== null && primary !== 'assign' && (
        <PrimaryButton
          task={task}
          action={primary}
          isDisabled={isPending}
          onSelect={() => void select(task, primary)}
        />
      )}
      {others.map((action) => (
        <Button
          key={action}
          variant={action === 'cancel' ? 'danger' : 'default'}
          disabled={isPending}
          onClick={() => void select(task, action)}
        >
          {actionNames[action]}
        </Button>
      ))}
      <Button onClick={() => setEditing(true)}>Edit</Button>
      <ActionMenu>
        <ActionMenu.Anchor>
          <IconButton icon={KebabHorizontalIcon} aria-label="More actions" tooltipDirection="n" />
        </ActionMenu.Anchor>
        <ActionMenu.Overlay align="end">
          <ActionList>
            {rare.map((action) => (
              <ActionList.Item key={action} disabled={isPending} onSelect={() => void select(task, action)}>
                {actionNames[action]}
              </ActionList.Item>
            ))}
            {rare.length > 0 && <ActionList.Divider />}
            <ActionList.Item variant="danger" onSelect={() => void remove()}>
              Delete task
            </ActionList.Item>
          </ActionList>
        </ActionMenu.Overlay>
      </ActionMenu>
      <Suspense>{isEditing && <EditTaskDialog task={task} onClose={() => setEditing(false)} />}</Suspense>
      {dialog}
    </div>
  );
}

/** Shows a button with a menu of the project's agents. The chosen one gets the task. */
function AssignAgent({ task }: { task: api.Task }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const agents = useQuery(agentQueries.agentsOf(task.projectId));
  const assign = useMutation({
    mutationFn: ({ id }: api.AgentEntry) => api.updateTask(task.id, { owner: id }),
    onSuccess: (changed, { name }) => {
      putTask(client, changed);
      notify(`Assigned to ${name}`, 'success');
    },
    onError: notifyError,
  });
  return (
    <ActionMenu>
      <ActionMenu.Button variant="primary" loading={assign.isPending}>
        Assign agent
      </ActionMenu.Button>
      <ActionMenu.Overlay align="end">
        <ActionList>
          {agents.data?.map((agent) => (
            <ActionList.Item key={agent.id} onSelect={() => assign.mutate(agent)}>
              <bdi>{agent.name}</bdi>
            </ActionList.Item>
          ))}
          {agents.data?.length === 0 && (
            <ActionList.Item onSelect={() => void navigate(`/projects/${task.projectId}/agents`)}>
              No agents yet. Create one
            </ActionList.Item>
          )}
        </ActionList>
      </ActionMenu.Overlay>
    </ActionMenu>
  );
}

/** Returns a function that deletes a task, if the person confirms that, and then leads to the board. */
function useDeleteTask(task: api.Task): () => Promise<void> {
  const confirm = useConfirm();
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.deleteTask(task.id),
    onSuccess: async () => {
      await navigate(`/projects/${task.projectId}`);
      dropTask(client, task.projectId, task.id);
    },
    onError: notifyError,
  });
  return async () => {
    const isConfirmed = await confirm({
      title: 'Delete this task?',
      content:
        'The task, its runs and its chat are permanently deleted. Its open pull requests are closed, and its branch is deleted unless somebody else pushed to it.',
      confirmButtonContent: 'Delete task',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) remove.mutate();
  };
}
