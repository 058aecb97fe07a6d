import { Flash } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import type { Agent } from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { TimeAgo } from '../display/times.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { AgentHeader } from './agent-header.tsx';
import { Comparison } from './learning/comparison.tsx';
import { Suggestions } from './learning/suggestions.tsx';
import { Performance } from './performance.tsx';
import { Skills } from './skills.tsx';
import { SystemPrompts } from './system-prompts.tsx';

export function AgentPage() {
  const { projectId = '', agentId = '' } = useParams();
  const query = useQuery(queries.agent(agentId));
  usePageTitle(query.data?.name, 'Agents');
  return (
    <div className="narrow stack">
      <QueryResult query={query} isPage>
        {(agent) => <AgentView key={agent.id} projectId={projectId} agent={agent} />}
      </QueryResult>
    </div>
  );
}

function AgentView({ projectId, agent }: { projectId: string; agent: Agent }) {
  return (
    <>
      <AgentHeader projectId={projectId} agent={agent} />
      {!agent.isNewest && (
        <Flash>
          {agent.status === 'available'
            ? 'This is an earlier version. It takes the tasks outside the rollout of the newest version.'
            : 'This is an earlier version.'}
        </Flash>
      )}
      <p className="muted">
        {agent.team !== '' && `${agent.team} · `}
        {agent.model === '' ? 'default model' : `model ${agent.model}`} · version {agent.version} · created{' '}
        <TimeAgo at={agent.createdAt} />
      </p>
      {agent.description !== '' && <p className="wrap">{agent.description}</p>}
      {agent.currentTaskId && (
        <p>
          Working on <Link to={`/tasks/${agent.currentTaskId}?tab=runs`}>this task</Link> now.
        </p>
      )}
      <Performance agentId={agent.id} />
      <Skills agentId={agent.id} />
      <Suggestions agentId={agent.id} />
      {agent.previousVersionId !== null && <Comparison agent={agent} />}
      <SystemPrompts projectId={projectId} agent={agent} />
    </>
  );
}
