import './learning.css';
import { Label } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Suggestion } from '../../api.ts';
import { plural } from '../../display/formats.ts';
import { revealHidden } from '../../display/hidden-characters.ts';
import { runKindName, runPath, sentenceCase } from '../../display/names.ts';
import { QueryResult } from '../../display/query-result.tsx';
import { Section } from '../../display/sections.tsx';
import { TimeAgo } from '../../display/times.tsx';
import * as agentQueries from '../../live/queries/agents.ts';
import * as queries from '../../live/queries.ts';

const priorityVariants = { low: 'secondary', medium: 'attention', high: 'danger' } as const;

export function Suggestions({ agentId }: { agentId: string }) {
  const query = useQuery(agentQueries.suggestions(agentId));
  return (
    <Section title="Suggestions">
      <QueryResult query={query} rows={1}>
        {({ suggestions, wording }) =>
          suggestions.length === 0 ? (
            <p className="muted">
              No suggestions. They are based on failed runs, requests for changes and failing checks of all versions.
            </p>
          ) : (
            <>
              {wording && (
                <p role="status" className="muted">
                  A model is rewriting these suggestions. The new texts will appear here.
                </p>
              )}
              <ul className="stack">
                {suggestions.map((suggestion) => (
                  <SuggestionItem key={`${suggestion.area} ${suggestion.suggestion}`} suggestion={suggestion} />
                ))}
              </ul>
            </>
          )
        }
      </QueryResult>
    </Section>
  );
}

const quoteTitles = { failure: 'Failed run', review: 'Request for changes', checks: 'Failed checks' } as const;

function SuggestionItem({ suggestion: { area, suggestion, priority, evidence, quotes } }: { suggestion: Suggestion }) {
  return (
    <li>
      <Label variant={priorityVariants[priority]}>{sentenceCase(priority)}</Label>{' '}
      <bdi className="strong">{sentenceCase(area)}</bdi> <bdi className="wrap">{suggestion}</bdi>
      <details>
        <summary>Evidence: {plural(evidence.length, 'run')}</summary>
        <ul className="quotes">
          {quotes.map(({ source, runId, taskId, text }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two reviewers of a run may write the same
            <li key={i}>
              <blockquote className="wrap">{revealHidden(text)}</blockquote>
              <Link to={runPath(taskId, runId)}>{quoteTitles[source]}</Link>
            </li>
          ))}
        </ul>
        <OtherRuns runIds={evidence.filter((id) => !quotes.some(({ runId }) => runId === id))} />
      </details>
    </li>
  );
}

/** At most this many runs are linked besides those that are quoted, because each has to be loaded. */
const maxLinks = 10;

function OtherRuns({ runIds }: { runIds: string[] }) {
  if (runIds.length === 0) return null;
  return (
    <>
      <p className="muted">Also in:</p>
      <ul>
        {runIds.slice(0, maxLinks).map((runId) => (
          <li key={runId}>
            <EvidenceLink runId={runId} />
          </li>
        ))}
        {runIds.length > maxLinks && <li>{plural(runIds.length - maxLinks, 'more run')}</li>}
      </ul>
    </>
  );
}

function EvidenceLink({ runId }: { runId: string }) {
  const { data: run } = useQuery(queries.run(runId));
  if (run === undefined) return <code>{runId}</code>;
  return (
    <Link to={runPath(run.taskId, run.id)} className="wrap">
      {runKindName(run)}, <TimeAgo at={run.createdAt} />: {run.failure?.message ?? run.status}
    </Link>
  );
}
