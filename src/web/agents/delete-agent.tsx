import { Button, useConfirm } from '@primer/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { notifyError } from '../frame/notices.tsx';
import { refetchAgents } from '../live/refetch-changes.ts';

export function DeleteAgent({ projectId, agent }: { projectId: string; agent: api.Agent }) {
  const confirm = useConfirm();
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.deleteAgent(agent.id),
    onSuccess: async () => {
      await navigate(`/projects/${projectId}/agents`);
      await refetchAgents(client);
    },
    onError: notifyError,
  });
  const confirmAndRemove = async () => {
    const isConfirmed = await confirm({
      title: 'Delete this agent?',
      content: 'All its versions and figures are permanently deleted. Its runs are kept. Its tasks will have no agent.',
      confirmButtonContent: 'Delete agent',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) remove.mutate();
  };
  return (
    <Button variant="danger" loading={remove.isPending} onClick={() => void confirmAndRemove()}>
      Delete
    </Button>
  );
}
