import { Flash, Heading, Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link, useParams } from 'react-router';
import type { Agent } from '../api.ts';
import { formatNumber, plural } from '../display/formats.ts';
import { Loading, QueryResult } from '../display/query-result.tsx';
import { FactList, Section } from '../display/sections.tsx';
import { TimeAgo } from '../display/times.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as agentQueries from '../live/queries/agents.ts';
import { Trials } from '../trials/trials-section.tsx';
import { AgentHeader } from './agent-header.tsx';
import { completionText, rateText, successText } from './agent-texts.ts';
import { Comparison } from './learning/comparison.tsx';
import { NotUseful } from './learning/not-useful.tsx';
import { Suggestions } from './learning/suggestions.tsx';

export function AgentPage() {
  const { projectId = '', agentId = '' } = useParams();
  const query = useQuery(agentQueries.agent(agentId));
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
      {agent.modelWarning !== null && <Flash variant="warning">{agent.modelWarning}</Flash>}
      {agent.description !== '' && <p className="wrap">{agent.description}</p>}
      {agent.currentTaskId && (
        <p>
          Working on <Link to={`/tasks/${agent.currentTaskId}?tab=runs`}>this task</Link> now.
        </p>
      )}
      <Performance agentId={agent.id} />
      <Skills agentId={agent.id} />
      <Trials projectId={projectId} agent={agent} />
      <Suggestions agentId={agent.id} />
      <NotUseful projectId={projectId} />
      {agent.previousVersionId !== null && <Comparison agent={agent} />}
      <SystemPrompts projectId={projectId} agent={agent} />
    </>
  );
}

const WeeklyRunsChart = lazyPart(async () => ({ default: (await import('./weekly-runs-chart.tsx')).WeeklyRunsChart }));

function Performance({ agentId }: { agentId: string }) {
  const query = useQuery(agentQueries.performance(agentId));
  return (
    <Section title="Performance">
      <QueryResult query={query} rows={2}>
        {({ metrics, weeks = [] }) => (
          <>
            <FactList
              facts={{
                Tasks: metrics.totalTasks,
                'Tasks done': metrics.completedTasks,
                'Tasks whose last run failed': metrics.failedTasks,
                'Success rate of tasks': successText(metrics),
                'Average time from start to done': completionText(metrics),
                'Pull requests': metrics.prsCreated,
                'Lines merged': formatNumber(metrics.linesOfCodeWritten),
              }}
            />
            {weeks.some((w) => w.succeeded + w.failed > 0) && (
              <>
                {/* A task that was retried and is done counts as a success above, and its failed run counts here. */}
                <Heading as="h3" variant="small">
                  Runs by week
                </Heading>
                <Suspense fallback={<Loading rows={3} />}>
                  <WeeklyRunsChart weeks={weeks} />
                </Suspense>
              </>
            )}
          </>
        )}
      </QueryResult>
    </Section>
  );
}

function Skills({ agentId }: { agentId: string }) {
  const query = useQuery(agentQueries.skills(agentId));
  return (
    <Section title="Skills">
      <QueryResult query={query} rows={1}>
        {(skills) =>
          skills.length === 0 ? (
            <p className="muted">No skills yet. They are based on the languages of merged pull requests.</p>
          ) : (
            <ul className="row wrap-row">
              {skills.map(({ id, name, proficiency }) => (
                <li key={id}>
                  <Label>
                    {name}: {proficiency}
                  </Label>
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
    </Section>
  );
}

/** Shows the system prompt of an agent beside that of its previous version, with the results of each. */
function SystemPrompts({ projectId, agent }: { projectId: string; agent: Agent }) {
  const { data: previous } = useQuery({
    ...agentQueries.agent(agent.previousVersionId ?? ''),
    enabled: agent.previousVersionId !== null,
  });
  return (
    <Section title="System prompt">
      <div className="versions">
        {previous && <Version agent={previous} link={`/projects/${projectId}/agents/${previous.id}`} />}
        <Version agent={agent} />
      </div>
    </Section>
  );
}

function Version({ agent, link }: { agent: Agent; link?: string }) {
  const { data } = useQuery(agentQueries.performance(agent.id));
  const name = `Version ${agent.version}`;
  return (
    <div>
      <p className="strong">
        {link === undefined ? name : <Link to={link}>{name}</Link>}
        {data && (
          <span className="muted">
            {' '}
            · {plural(data.metrics.totalTasks, 'task')}
            {rateText(data.metrics) !== undefined && ` · ${rateText(data.metrics)} success rate`}
          </span>
        )}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard */}
      <section className="prompt" tabIndex={0} aria-label={`System prompt of version ${agent.version}`}>
        <pre className="wrap">{agent.systemPrompt === '' ? 'No system prompt' : agent.systemPrompt}</pre>
      </section>
    </div>
  );
}
