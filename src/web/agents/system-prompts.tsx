import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Agent } from '../api.ts';
import { plural } from '../display/formats.ts';
import { Section } from '../display/sections.tsx';
import * as queries from '../live/queries.ts';

/** Shows the system prompt of an agent beside that of its previous version, with the results of each. */
export function SystemPrompts({ projectId, agent }: { projectId: string; agent: Agent }) {
  const { data: previous } = useQuery({
    ...queries.agent(agent.previousVersionId ?? ''),
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
  const { data } = useQuery(queries.performance(agent.id));
  const name = `Version ${agent.version}`;
  return (
    <div>
      <p className="strong">
        {link === undefined ? name : <Link to={link}>{name}</Link>}
        {data && (
          <span className="muted">
            {' '}
            · {plural(data.metrics.totalTasks, 'task')} · {Math.round(data.metrics.successRate * 100)}% success rate
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
