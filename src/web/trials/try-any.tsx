import { Button } from '@primer/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import type * as api from '../api.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as queries from '../live/queries.ts';
import { TryDialog } from './try-dialog.tsx';

interface Props {
  repository: api.RepositoryEntry;
  /** The ids of the agents that somebody wants to try, at most two. */
  wanted: string[];
}

/** Offers to try an agent on the benchmark of a repository, and then shows the page with the result. */
export function TryAny({ repository: { id, projectId }, wanted }: Props) {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const { data: project } = useQuery(queries.project(projectId));
  const { data: agents } = useQuery(agentQueries.agentsOf(projectId));
  const [chosen, choose] = useState<string>();
  const agentId = chosen ?? wanted[0] ?? project?.defaultAgentId ?? agents?.[0]?.id;
  const { data: agent } = useQuery({
    ...agentQueries.agent(agentId ?? ''),
    enabled: agentId !== undefined,
    placeholderData: keepPreviousData,
  });
  const showResult = ({ agentId: tried, against }: api.AgentTrial) =>
    navigate(
      against === undefined || against.agentId === tried
        ? `/projects/${projectId}/agents/${tried}`
        : `/projects/${projectId}/agents?compare=${tried},${against.agentId}#trials`,
    );
  return (
    <>
      <Button variant="primary" onClick={() => setOpen(true)} disabled={agent === undefined}>
        {wanted.length === 2 ? 'Try both agents' : 'Try an agent'}
      </Button>
      {isOpen && agent !== undefined && (
        <TryDialog
          projectId={projectId}
          agent={agent}
          against={wanted[1]}
          repositoryId={id}
          onAgent={choose}
          onStarted={(trial) => void showResult(trial)}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
