import { Button, Flash } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { May } from '../forms/may.tsx';
import { mutateOnce } from '../forms/submit.ts';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { errorMessage, statusOf } from '../live/errors.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import { TrialResult } from './trial-result.tsx';

/** Tries the environment of a repository: set-up and checks on the default branch, without an agent. */
export function EnvironmentPage() {
  usePageTitle('Environment');
  const { projectId = '', repositoryId = '' } = useParams();
  const query = useQuery(repositoryQueries.repositories(projectId));
  return (
    <div className="narrow stack">
      <QueryResult query={query} isPage>
        {(repositories) => {
          const repository = repositories.find(({ id }) => id === repositoryId);
          if (repository !== undefined) return <RepositoryEnvironment key={repositoryId} repository={repository} />;
          return (
            <EmptyState as="h1" title="Not found">
              <p>
                The project has no such repository. <Link to={`/projects/${projectId}/repositories`}>Repositories</Link>
              </p>
            </EmptyState>
          );
        }}
      </QueryResult>
    </div>
  );
}

function RepositoryEnvironment({ repository: { id, name, projectId } }: { repository: api.RepositoryEntry }) {
  const client = useQueryClient();
  const query = repositoryQueries.environmentTrial(id);
  const trial = useQuery(query);
  const refresh = () => client.invalidateQueries({ queryKey: query.queryKey });
  const start = useMutation({
    mutationFn: () => api.startEnvironmentTrial(id),
    onSuccess: refresh,
    // A trial that somebody else started is shown.
    onError: (error) => (statusOf(error) === 409 ? refresh() : undefined),
  });
  const isRunning = trial.data?.status === 'running';
  return (
    <>
      <PageHeader title={`Environment of ${name}`}>
        <May>
          <Button variant="primary" loading={start.isPending || isRunning} onClick={() => mutateOnce(start)}>
            Try the environment
          </Button>
        </May>
      </PageHeader>
      <p className="muted">
        A trial runs set-up and checks on the default branch, without an agent. A successful set-up is kept for later
        runs. <Link to={`/projects/${projectId}/repositories`}>Back to repositories</Link>
      </p>
      {start.error && <Flash variant="danger">{startErrorText(start.error)}</Flash>}
      <QueryResult query={trial}>
        {(last) =>
          last === null ? (
            <EmptyState title="No trial yet">
              <May otherwise="Once a member has tried the environment, this page shows whether set-up and checks work.">
                <p>Try the environment to see whether set-up and checks work.</p>
              </May>
            </EmptyState>
          ) : (
            <TrialResult trial={last} />
          )
        }
      </QueryResult>
    </>
  );
}

function startErrorText(error: unknown): string {
  const status = statusOf(error);
  if (status === 409) return 'Somebody else has already started a trial of this repository. You can follow it below.';
  if (status === 403) return 'Only members of the project can try its environments.';
  return `The trial was not started. ${errorMessage(error)}`;
}
