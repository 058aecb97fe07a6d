import { Button, Heading, Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearchParams } from 'react-router';
import type { AgentEntry } from '../api.ts';
import { sentenceCase } from '../display/names.ts';
import { QueryResult } from '../display/query-result.tsx';
import { May } from '../forms/may.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { AgentFormDialog } from './agent-form-dialog.tsx';
import { HealthLabel } from './health-label.tsx';

/** Shows the agents that can work in the project, by team. */
export function AgentsPage() {
  usePageTitle('Agents');
  const { projectId = '' } = useParams();
  const [searchParams, setSearchParams] = useSearchParams();
  const query = useQuery(queries.agentsOf(projectId));
  return (
    <div className="narrow">
      <PageHeader title="Agents">
        <May>
          <Button variant="primary" onClick={() => setSearchParams({ new: 'one' })}>
            New agent
          </Button>
        </May>
      </PageHeader>
      <QueryResult query={query}>
        {(agents) =>
          [...new Set(agents.map((a) => a.team))].map((team) => (
            <Team key={team} projectId={projectId} team={team} agents={agents.filter((a) => a.team === team)} />
          ))
        }
      </QueryResult>
      {searchParams.get('new') !== null && <AgentFormDialog onClose={() => setSearchParams({})} />}
    </div>
  );
}

function Team({ projectId, team, agents }: { projectId: string; team: string; agents: AgentEntry[] }) {
  const health = useQuery(queries.agentsHealth());
  const title = team === '' ? 'No team' : team;
  return (
    <section aria-label={title}>
      <Heading as="h2" variant="small">
        {title}
      </Heading>
      <ul className="list">
        {agents.map(({ id, name, status }) => (
          <li key={id} className="list-item">
            <Link to={`/projects/${projectId}/agents/${id}`} className="strong wrap">
              <bdi>{name}</bdi>
            </Link>
            <Label variant={status === 'busy' ? 'attention' : 'secondary'}>{sentenceCase(status)}</Label>
            <HealthLabel health={health.data?.find((h) => h.agentId === id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
