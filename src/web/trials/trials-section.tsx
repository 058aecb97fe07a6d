import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/sections.tsx';
import { useMay } from '../forms/may.tsx';
import * as agentQueries from '../live/queries/agents.ts';
import { TrialList } from './trial-result.tsx';
import { TryDialog } from './try-dialog.tsx';

/** Shows what an agent solved of earlier changes of the project's repositories, and lets admins try it again. */
export function Trials({ projectId, agent }: { projectId: string; agent: api.Agent }) {
  const query = useQuery(agentQueries.trials(agent.id));
  const [isOpen, setOpen] = useState(false);
  const mayTry = useMay('admin');
  return (
    <Section title="Trials">
      <QueryResult query={query} rows={2}>
        {(trials) =>
          trials.length === 0 ? (
            <p className="muted">
              No trials yet. A trial shows how many of your repository's earlier changes the agent can make, and at what
              cost.
            </p>
          ) : (
            <TrialList trials={trials} projectId={projectId} />
          )
        }
      </QueryResult>
      {mayTry && (
        <div className="row">
          <Button onClick={() => setOpen(true)}>Try on your own changes</Button>
        </div>
      )}
      {isOpen && <TryDialog projectId={projectId} agent={agent} onClose={() => setOpen(false)} />}
    </Section>
  );
}
