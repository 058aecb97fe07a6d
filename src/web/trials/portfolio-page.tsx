import { Button, Flash, Label, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import * as api from '../api.ts';
import { formatCost } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState, Section } from '../display/sections.tsx';
import { useMay } from '../forms/may.tsx';
import { notify } from '../frame/notices.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { errorMessage } from '../live/errors.ts';
import * as agentQueries from '../live/queries/agents.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import * as queries from '../live/queries.ts';
import { refetchAgents } from '../live/refetch-changes.ts';
import { PortfolioChart } from './portfolio-chart.tsx';
import { comparisonText, doubtText, perSolvedText, solvedText } from './trial-texts.ts';

/** Compares the agents and models that were tried on a repository: how much they solve, and at what cost. */
export function PortfolioPage() {
  const { projectId = '', repositoryId = '' } = useParams();
  usePageTitle('Portfolio');
  const { data: repositories } = useQuery(repositoryQueries.repositories(projectId));
  const name = repositories?.find(({ id }) => id === repositoryId)?.name;
  const query = useQuery(repositoryQueries.portfolio(repositoryId));
  return (
    <div className="narrow stack">
      <PageHeader title={name === undefined ? 'Portfolio' : `Portfolio of ${name}`}>
        <Link to={`/projects/${projectId}/repositories/${repositoryId}/benchmark`}>Benchmark</Link>
      </PageHeader>
      <QueryResult query={query}>
        {(portfolio) =>
          portfolio.agents.length === 0 ? (
            <EmptyState title="No trials yet">
              <p>
                Trials use the benchmark of the repository: earlier changes with hidden tests. Members make it and try
                agents on the page{' '}
                <Link to={`/projects/${projectId}/repositories/${repositoryId}/benchmark`}>Benchmark</Link>. What the
                agents solve, and at what cost, appears here.
              </p>
            </EmptyState>
          ) : (
            <PortfolioView projectId={projectId} portfolio={portfolio} />
          )
        }
      </QueryResult>
    </div>
  );
}

function PortfolioView({
  projectId,
  portfolio: { agents, cheapest },
}: {
  projectId: string;
  portfolio: api.Portfolio;
}) {
  return (
    <>
      <Section title="Success and cost">
        {agents.some(({ costPerSolved }) => costPerSolved !== null) && <PortfolioChart agents={agents} />}
        <PortfolioTable projectId={projectId} agents={agents} />
        <p className="muted small">
          Filled points are efficient: nothing solves at least as much for less. Intervals are 95%. An agent is clearly
          worse than the best one if chance explains that in at most 5% of cases. 20 items show only large differences.
        </p>
      </Section>
      {cheapest !== null && <Cheapest projectId={projectId} entry={cheapest} agents={agents} />}
    </>
  );
}

function PortfolioTable({ projectId, agents }: { projectId: string; agents: api.PortfolioEntry[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
    <section className="comparison-table" tabIndex={0} aria-label="Agents that were tried">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Solved</th>
            <th scope="col">Per solved item</th>
          </tr>
        </thead>
        <tbody>
          {agents.map((each) => (
            <tr key={`${each.agentId} ${each.model}`}>
              <th scope="row">
                <Link to={`/projects/${projectId}/agents/${each.agentId}`}>
                  <bdi>{each.name}</bdi> (version {each.version})
                </Link>{' '}
                {each.isEfficient && <Label variant="accent">Efficient</Label>}
                <div className="muted small wrap">
                  with <bdi>{each.model}</bdi>
                </div>
              </th>
              <td>
                {solvedText(each)}
                <div className="muted small">{comparisonText(each, agents)}</div>
              </td>
              <td>{perSolvedText(each.costPerSolved, each.minutesPerSolved)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface CheapestProps {
  projectId: string;
  entry: api.PortfolioEntry;
  agents: api.PortfolioEntry[];
}

/** Recommends the cheapest agent that is not clearly worse than the best, and makes it the project's default. */
function Cheapest({ projectId, entry, agents }: CheapestProps) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const { data: project } = useQuery(queries.project(projectId));
  const isAdmin = useMay('admin');
  const { data: agent } = useQuery(agentQueries.agent(entry.agentId));
  const use = useMutation({
    mutationFn: async () => {
      if (agent !== undefined && agent.model !== entry.model) await api.updateAgent(agent.id, { model: entry.model });
      await api.updateProject(projectId, { defaultAgentId: entry.agentId });
    },
    onSuccess: async () => {
      await Promise.all([client.invalidateQueries({ queryKey: ['project', projectId] }), refetchAgents(client)]);
      notify(`${entry.name} is the default agent of the project`, 'success');
    },
  });
  const isDefault = project?.defaultAgentId === entry.agentId && agent?.model === entry.model;
  const changesModel = agent !== undefined && agent.model !== entry.model;
  const doubt = agents.length > 1 ? doubtText(agents) : undefined;
  const ask = async () => {
    const isConfirmed = await confirm({
      title: `Use ${entry.name} by default?`,
      content: `${doubt === undefined ? '' : `${doubt} `}It starts where nobody names an agent, unless .deckhand.yml does.${changesModel ? ` Its model becomes ${entry.model} in all of its tasks.` : ''}`,
      confirmButtonContent: 'Use by default',
    });
    if (isConfirmed) use.mutate();
  };
  return (
    <Section title="The cheapest that is not clearly worse">
      {use.error && <Flash variant="danger">{errorMessage(use.error)}</Flash>}
      <p>
        <span className="strong">
          <bdi>{entry.name}</bdi>
        </span>{' '}
        with <bdi>{entry.model}</bdi> costs {formatCost(entry.costPerSolved)} per solved item. {doubt}
        {isDefault && ' It is the default agent of the project.'}
        {agent?.projectId === null &&
          ' It is a personal agent, which cannot be the default of a project: choose it for tasks.'}
      </p>
      {!isDefault && isAdmin && agent?.projectId === projectId && (
        <div className="row page-part page-part-apart">
          <Button
            variant={doubt === undefined ? 'primary' : 'default'}
            loading={use.isPending}
            onClick={() => void ask()}
          >
            Use the cheapest that is not clearly worse
          </Button>
        </div>
      )}
    </Section>
  );
}
