import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type * as api from '../api.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import { estimateText, solvedText, statusNames, verdictText } from './trial-texts.ts';
import { TryDialog } from './try-dialog.tsx';

interface Props {
  projectId: string;
  agent: api.Agent;
  systemPrompt: string;
  /** The trial of this prompt; empty if it was not tried. */
  trialId: string;
  onTried(trialId: string): void;
}

/** Offers to try a new prompt on earlier changes before it is used, or shows what its trial found out. */
export function TryFirst({ projectId, agent, systemPrompt, trialId, onTried }: Props) {
  const { data: repositories } = useQuery(repositoryQueries.repositories(projectId));
  const { data: trials } = useQuery({ ...agentQueries.trials(agent.id), enabled: trialId !== '' });
  const [isOpen, setOpen] = useState(false);
  const repository = repositories?.find(({ isPrimary }) => isPrimary) ?? repositories?.[0];
  const asked = { items: 20, against: agent.id };
  const estimate = useQuery({
    ...agentQueries.trialEstimate(agent.id, repository?.id ?? '', asked),
    enabled: repository !== undefined && trialId === '',
  });
  const trial = trials?.find(({ id }) => id === trialId);
  if (trial !== undefined)
    return (
      <p role="status">
        {statusNames[trial.status]}: this prompt solved {solvedText(trial)}.{' '}
        {trial.against !== undefined && verdictText(trial.against, 'The new prompt')}{' '}
        {trial.status === 'running' && 'Wait for the result before you create the version.'}
      </p>
    );
  if (repository === undefined || estimate.error) return null;
  const cost = estimate.data === undefined ? undefined : estimateText(estimate.data);
  const isEmpty = estimate.data?.items === 0;
  // Another repository may have a benchmark; the dialog lets choose.
  if (isEmpty && repositories?.length === 1)
    return (
      <p className="muted">
        Once {repository.name} has a benchmark, you can try a prompt on your own changes before you use it.
      </p>
    );
  const count = isEmpty ? '' : `${estimate.data?.items ?? asked.items} of `;
  return (
    <div className="row">
      <Button onClick={() => setOpen(true)}>
        Try it on {count}your own changes first{cost !== undefined && !isEmpty && ` (${cost})`}
      </Button>
      {isOpen && (
        <TryDialog
          projectId={projectId}
          agent={agent}
          systemPrompt={systemPrompt}
          onStarted={({ id }) => onTried(id)}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}
