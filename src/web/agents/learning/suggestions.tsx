import { Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Suggestion } from '../api.ts';
import { runKindName, sentenceCase } from '../display/names.ts';
import { plural } from '../display/plural.ts';
import { QueryResult } from '../display/query-result.tsx';
import { Section } from '../display/section.tsx';
import { TimeAgo } from '../display/times.tsx';
import * as queries from '../live/queries.ts';

const priorityVariants = { low: 'secondary', medium: 'attention', high: 'danger' } as const;

export function Suggestions({ agentId }: { agentId: string }) {
  const query = useQuery(queries.suggestions(agentId));
  return (
    <Section title="Suggestions">
      <QueryResult query={query} rows={1}>
        {({ suggestions }) =>
          suggestions.length === 0 ? (
            <p className="muted">No suggestions. They are based on this agent's failed runs.</p>
          ) : (
            <ul className="stack">
              {suggestions.map((suggestion) => (
                <SuggestionItem key={`${suggestion.area} ${suggestion.suggestion}`} suggestion={suggestion} />
              ))}
            </ul>
          )
        }
      </QueryResult>
    </Section>
  );
}

function SuggestionItem({ suggestion: { area, suggestion, priority, evidence } }: { suggestion: Suggestion }) {
  return (
    <li>
      <Label variant={priorityVariants[priority]}>{sentenceCase(priority)}</Label>{' '}
      <span className="strong">{sentenceCase(area)}</span> <span className="wrap">{suggestion}</span>
      <details>
        <summary>Evidence: {plural(evidence.length, 'run')}</summary>
        <ul>
          {evidence.map((runId) => (
            <li key={runId}>
              <EvidenceLink runId={runId} />
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

function EvidenceLink({ runId }: { runId: string }) {
  const { data: run } = useQuery(queries.run(runId));
  if (run === undefined) return <code>{runId}</code>;
  return (
    <Link to={`/tasks/${run.taskId}?tab=runs&run=${run.id}`} className="wrap">
      {runKindName(run)}, <TimeAgo at={run.createdAt} />: {run.failure?.message ?? run.status}
    </Link>
  );
}
