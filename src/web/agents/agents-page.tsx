import { Button, Heading, Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearchParams } from 'react-router';
import { Shown } from '../display/query-result.tsx';
import { PageHead } from '../frame/page-header.tsx';
import { useTitle } from '../frame/use-page-title.ts';
import * as q from '../live/queries.ts';
import { AgentForm } from './agent-form-dialog.tsx';
import { Health } from './agent-health.tsx';

/** Who works in the project, team by team. */
export function AgentsPage() {
  useTitle('Agents');
  const { projectId = '' } = useParams();
  const [query, setQuery] = useSearchParams();
  const asked = useQuery(q.agentsOf(projectId));
  const health = useQuery(q.agentsHealth());
  return (
    <div className="narrow">
      <PageHead title="Agents">
        <Button variant="primary" onClick={() => setQuery({ new: 'one' })}>
          New agent
        </Button>
      </PageHead>
      <Shown of={asked}>
        {(agents) =>
          [...new Set(agents.map((a) => a.team))].map((team) => (
            <section key={team} aria-label={team === '' ? 'No team' : team}>
              <Heading as="h2" variant="small">
                {team === '' ? 'No team' : team}
              </Heading>
              <ul className="list">
                {agents
                  .filter((a) => a.team === team)
                  .map(({ id, name, status }) => (
                    <li key={id} className="list-item">
                      <Link to={`/projects/${projectId}/agents/${id}`} className="strong wrap">
                        <bdi>{name}</bdi>
                      </Link>
                      <Label variant={status === 'busy' ? 'attention' : 'secondary'}>{status}</Label>
                      <Health health={health.data?.find((h) => h.agentId === id)} />
                    </li>
                  ))}
              </ul>
            </section>
          ))
        }
      </Shown>
      {query.get('new') !== null && <AgentForm onClose={() => setQuery({})} />}
    </div>
  );
}
