import { Button, Flash, Heading, Label, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import * as api from '../api.ts';
import { sentenceCase } from '../display/names.ts';
import { May, useMay } from '../forms/may.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import * as agentQueries from '../live/queries/agents.ts';
import { refetchAgents } from '../live/refetch-changes.ts';
import { AgentFormDialog } from './agent-form-dialog.tsx';
import { healthReason, resetText } from './agent-texts.ts';
import { HealthFigures, HealthLabel } from './health-label.tsx';
import { NewVersion } from './learning/new-version.tsx';

/** Shows the name of an agent with its actions, and why its health is not good. */
export function AgentHeader({ projectId, agent }: { projectId: string; agent: api.Agent }) {
  const client = useQueryClient();
  const health = useQuery(agentQueries.agentsHealth());
  const [isEditing, setEditing] = useState(false);
  const reset = useMutation({
    mutationFn: () => api.resetAgentHealth(agent.id),
    onSuccess: () => {
      notify('Agent health reset', 'success');
      return client.invalidateQueries({ queryKey: ['health'] });
    },
    onError: notifyError,
  });
  const mayReset = useMay('member');
  const own = health.data?.find((h) => h.agentId === agent.id);
  return (
    <>
      <div className="row wrap-row">
        <Heading as="h1" variant="medium" className="wrap">
          <bdi>{agent.name}</bdi>
        </Heading>
        <Label variant={agent.status === 'busy' ? 'attention' : 'secondary'}>{sentenceCase(agent.status)}</Label>
        <HealthLabel health={own} />
        <HealthFigures health={own} />
        <span className="grow" />
        {agent.isNewest && (
          <May>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <NewVersion projectId={projectId} agent={agent} />
            <DeleteAgent projectId={projectId} agent={agent} />
          </May>
        )}
        {isEditing && <AgentFormDialog agent={agent} onClose={() => setEditing(false)} />}
      </div>
      {own !== undefined && own.status !== 'healthy' && (
        <Flash variant="warning" className="row wrap-row">
          <span className="long-text">
            {healthReason(own)} {mayReset && resetText}
          </span>
          <May>
            <Button loading={reset.isPending} onClick={() => reset.mutate()}>
              Reset health
            </Button>
          </May>
        </Flash>
      )}
    </>
  );
}

function DeleteAgent({ projectId, agent }: { projectId: string; agent: api.Agent }) {
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
