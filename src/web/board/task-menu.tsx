import { ActionList, ActionMenu } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { type AgentEntry, type TaskCard, updateTask } from '../api.ts';
import { notify, notifyError } from '../frame/notices.tsx';
import { putTask } from '../live/put-task.ts';
import * as agentQueries from '../live/queries/agents.ts';
import { actionNames, actionsFor } from '../tasks/actions/task-actions.ts';
import { useConfirmedAction } from '../tasks/use-confirmed-action.tsx';
import type { LazyMenu } from './use-lazy-menu.ts';

/** Shows the menu of a card on the board, which opens the task or performs one of its actions. */
export function TaskMenu({ task, anchorRef, isOpen, onOpenChange }: LazyMenu & { task: TaskCard }) {
  const { select, dialog } = useConfirmedAction();
  const navigate = useNavigate();
  const needsAgent = task.owner === null && ['backlog', 'ready'].includes(task.status);
  return (
    <>
      <ActionMenu anchorRef={anchorRef} open={isOpen} onOpenChange={onOpenChange}>
        <ActionMenu.Overlay align="end">
          <ActionList>
            <ActionList.Item onSelect={() => void navigate(`/tasks/${task.id}`)}>Open</ActionList.Item>
            {actionsFor(task).map((action) => (
              <ActionList.Item key={action} onSelect={() => void select(task, action)}>
                {actionNames[action]}
              </ActionList.Item>
            ))}
            {needsAgent && <AgentItems task={task} />}
          </ActionList>
        </ActionMenu.Overlay>
      </ActionMenu>
      {dialog}
    </>
  );
}

/** Offers the agents to which a task without one can be assigned. */
function AgentItems({ task }: { task: TaskCard }) {
  const client = useQueryClient();
  const { data: agents = [] } = useQuery(agentQueries.agentsOf(task.projectId));
  const assign = useMutation({
    mutationFn: ({ id }: AgentEntry) => updateTask(task.id, { owner: id }),
    onSuccess: (changed, { name }) => {
      putTask(client, changed);
      notify(`Assigned to ${name}`, 'success');
    },
    onError: notifyError,
  });
  if (agents.length === 0) return null;
  return (
    <ActionList.Group>
      <ActionList.GroupHeading>Assign to</ActionList.GroupHeading>
      {agents.map((agent) => (
        <ActionList.Item key={agent.id} onSelect={() => assign.mutate(agent)}>
          <bdi>{agent.name}</bdi>
        </ActionList.Item>
      ))}
    </ActionList.Group>
  );
}
