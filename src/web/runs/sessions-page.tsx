import './runs.css';
import { useQuery } from '@tanstack/react-query';
import { plural } from '../display/formats.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { SessionTable } from './session-table.tsx';

/** Shows the agents at work in all projects of the person: what each does, waits for, and its place in the queue. */
export function SessionsPage() {
  usePageTitle('Sessions');
  const query = useQuery(queries.sessions());
  return (
    <div className="wide stack">
      <PageHeader title="Sessions" />
      <QueryResult query={query}>
        {(sessions) =>
          sessions.length === 0 ? (
            <EmptyState title="No agent is at work on a task">
              Unfinished runs of the tasks of all your projects appear here. Trials are on the pages of agents.
            </EmptyState>
          ) : (
            <>
              <SessionTable label="Sessions" sessions={sessions} hasProjects />
              {sessions.length === queries.maxSessions && (
                <p className="muted">Showing the first {plural(queries.maxSessions, 'session')}.</p>
              )}
            </>
          )
        }
      </QueryResult>
    </div>
  );
}
