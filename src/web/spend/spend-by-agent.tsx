import { Link } from 'react-router';
import type { Spend } from '../api.ts';
import { formatCost, formatNumber } from '../display/formats.ts';
import { agentName, tokensOf } from './spend-text.ts';

/** Lists what each agent of a project has cost. */
export function SpendByAgent({ projectId, spend }: { projectId: string; spend: Spend }) {
  const { agents, total } = spend;
  return (
    <table className="table figures">
      <thead>
        <tr>
          <th scope="col">Agent</th>
          <th scope="col">Cost</th>
          <th scope="col">Share</th>
          <th scope="col">Tokens</th>
        </tr>
      </thead>
      <tbody>
        {agents.map((agent, i) => (
          <tr key={agent.agentId ?? i}>
            <td>
              {agent.agentId === null ? (
                agentName(agent)
              ) : (
                <Link to={`/projects/${projectId}/agents/${agent.agentId}`}>
                  <bdi>{agentName(agent)}</bdi>
                </Link>
              )}
            </td>
            <td>{formatCost(agent.costUsd)}</td>
            <td>{total.costUsd === 0 ? '–' : `${Math.round((100 * agent.costUsd) / total.costUsd)}%`}</td>
            <td>{formatNumber(tokensOf(agent))}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">Project</th>
          <td>{formatCost(total.costUsd)}</td>
          <td>{total.costUsd === 0 ? '–' : '100%'}</td>
          <td>{formatNumber(tokensOf(total))}</td>
        </tr>
      </tbody>
    </table>
  );
}
