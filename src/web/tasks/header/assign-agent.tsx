import { ActionList, ActionMenu } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import * as api from '../../api.ts';
import { notify, notifyError } from '../../frame/notices.tsx';
import { putTask } from '../../live/put-task.ts';
import * as queries from '../../live/queries.ts';

/** Shows a button with a menu of the project's agents. The chosen one gets the task. */
export function AssignAgent({ task }: { task: api.Task }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const agents = useQuery(queries.agentsOf(task.projectId));
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
