import './runs.css';
import { Button, Heading } from '@primer/react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { useMay } from '../forms/may.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { SessionTable } from './session-table.tsx';

/** Shows the unfinished runs of a project, and those that have ended. */
export function RunsPage() {
  usePageTitle('Runs');
  const { projectId = '' } = useParams();
  return (
    <div className="wide stack">
      <PageHeader title="Runs">
        <Link to="/sessions">Sessions of all projects</Link>
      </PageHeader>
      <ActiveRuns projectId={projectId} />
      <History projectId={projectId} />
    </div>
  );
}

function ActiveRuns({ projectId }: { projectId: string }) {
  const query = useQuery(queries.sessions(projectId));
  const mayStart = useMay('member');
  return (
    <section aria-label="Active">
      <Heading as="h2" variant="small" className="section-title">
        Active
      </Heading>
      <QueryResult query={query} rows={2}>
        {(sessions) =>
          sessions.length === 0 ? (
            <p className="muted">
              No active runs of tasks.{mayStart && ' Start a task to see its run here.'} Trials are on the page of
              agents.
            </p>
          ) : (
            <SessionTable label="Active runs" sessions={sessions} />
          )
        }
      </QueryResult>
    </section>
  );
}

function History({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(queries.projectRuns(projectId));
  return (
    <section aria-label="History">
      <Heading as="h2" variant="small" className="section-title">
        History
      </Heading>
      <QueryResult query={query}>
        {(runs) => {
          const ended = runs.filter(({ finishedAt }) => finishedAt !== null);
          if (ended.length === 0) return <EmptyState title="No runs yet">Runs that have ended appear here.</EmptyState>;
          return <SessionTable label="Runs that have ended" sessions={ended} />;
        }}
      </QueryResult>
      {query.hasNextPage && (
        <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show older runs
        </Button>
      )}
    </section>
  );
}
