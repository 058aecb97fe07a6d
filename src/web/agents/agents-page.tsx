import { Button, Checkbox, Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import type { AgentEntry, AgentHealth, Spend } from '../api.ts';
import { agentCost } from '../display/formats.ts';
import { sentenceCase } from '../display/names.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { May, useMay, useNewParam } from '../forms/may.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as queries from '../live/queries.ts';
import { AgentFormDialog } from './agent-form-dialog.tsx';
import { costDays } from './agent-texts.ts';
import { HealthLabel, healthRate } from './health-label.tsx';

const TwoAgents = lazyPart(async () => ({ default: (await import('./two-agents.tsx')).TwoAgents }));

/** Shows the agents that can work in the project, with their model, success and cost, and compares two of them. */
export function AgentsPage() {
  usePageTitle('Agents');
  const { projectId = '' } = useParams();
  const [searchParams, setSearchParams] = useSearchParams();
  const query = useQuery(agentQueries.agentsOf(projectId));
  const mayCreate = useMay('member');
  useNewParam(mayCreate);
  const chosen = (searchParams.get('compare') ?? '').split(',').filter((id) => id !== '');
  const choose = (ids: string[]) => setSearchParams(ids.length === 0 ? {} : { compare: ids.join() }, { replace: true });
  const [first, second] = chosen;
  return (
    <div className="narrow stack">
      <PageHeader title="Agents">
        <May otherwise="Members of the project can create agents.">
          <Button variant="primary" onClick={() => setSearchParams({ new: 'one' })}>
            New agent
          </Button>
        </May>
      </PageHeader>
      <QueryResult query={query}>
        {(agents) => <AgentTable projectId={projectId} agents={agents} chosen={chosen} onChoose={choose} />}
      </QueryResult>
      <p className="muted small" role="status">
        {first !== undefined && second !== undefined ? '' : 'Select two agents to compare them.'}
      </p>
      {first !== undefined && second !== undefined && (
        <Suspense fallback={<Loading rows={5} />}>
          <TwoAgents projectId={projectId} ids={[first, second]} />
        </Suspense>
      )}
      {mayCreate && searchParams.get('new') !== null && <AgentFormDialog onClose={() => setSearchParams({})} />}
    </div>
  );
}

interface TableProps {
  projectId: string;
  agents: AgentEntry[];
  /** The ids of the agents to compare. */
  chosen: string[];
  onChoose(ids: string[]): void;
}

function AgentTable({ projectId, agents, chosen, onChoose }: TableProps) {
  const health = useHealthOf(agents);
  const spend = useQuery(queries.spend(projectId, costDays));
  const sorted = [...agents].sort((a, b) => a.team.localeCompare(b.team));
  // The third choice replaces the first one.
  const toggle = (id: string) =>
    onChoose(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id].slice(-2));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="table-frame" tabIndex={0} aria-label="Agents">
      <table className="page-table">
        <thead>
          <tr>
            <td />
            <th scope="col">Agent</th>
            <th scope="col">Team</th>
            <th scope="col">Model</th>
            <th scope="col">State</th>
            <th scope="col" className="number">
              Tasks
            </th>
            <th scope="col" className="number">
              Success of ended tasks
            </th>
            <th scope="col" className="number">
              Cost, {costDays} days
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((agent) => (
            <AgentRow
              key={agent.id}
              projectId={projectId}
              agent={agent}
              health={health?.find((each) => each.agentId === agent.id)}
              spend={spend.data}
              isChosen={chosen.includes(agent.id)}
              onToggle={() => toggle(agent.id)}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Returns the health of agents. They have no events, so it is fetched again when the list has an agent that it lacks. */
function useHealthOf(agents: AgentEntry[]): AgentHealth[] | undefined {
  const { data, refetch } = useQuery(agentQueries.agentsHealth());
  const isLacking = data !== undefined && agents.some(({ id }) => data.every(({ agentId }) => agentId !== id));
  useEffect(() => {
    if (isLacking) void refetch();
  }, [isLacking, refetch]);
  return data;
}

function AgentRow(props: {
  projectId: string;
  agent: AgentEntry;
  health: AgentHealth | undefined;
  spend: Spend | undefined;
  isChosen: boolean;
  onToggle(): void;
}) {
  const { projectId, agent, health, spend, isChosen, onToggle } = props;
  const { id, name, team, status } = agent;
  const { data } = useQuery(agentQueries.agent(id));
  return (
    <tr>
      <td>
        <Checkbox aria-label={`Compare ${name}`} checked={isChosen} onChange={onToggle} />
      </td>
      <th scope="row">
        <Link to={`/projects/${projectId}/agents/${id}`} className="wrap">
          <bdi>{name}</bdi>
        </Link>
      </th>
      <td>{team === '' ? '–' : team}</td>
      <td title={data?.modelWarning ?? undefined}>
        {data === undefined ? '' : data.model === '' ? <span className="muted">Default</span> : data.model}
        {data?.modelWarning != null && ' (not listed)'}
      </td>
      <td>
        <span className="row">
          <Label variant={status === 'busy' ? 'attention' : 'secondary'}>{sentenceCase(status)}</Label>
          <HealthLabel health={health} />
        </span>
      </td>
      <td className="number">{health?.totalTasks ?? ''}</td>
      <td className="number">{successText(health)}</td>
      <td className="number">{spend === undefined ? '' : agentCost(spend, id)}</td>
    </tr>
  );
}

function successText(health: AgentHealth | undefined): string {
  return health === undefined ? '' : (healthRate(health) ?? '–');
}
