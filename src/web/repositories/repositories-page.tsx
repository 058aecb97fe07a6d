import { Heading } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { serviceInfo } from '../frame/service-info.ts';
import * as queries from '../live/queries.ts';
import { ConnectRepository } from './connect-repository.tsx';
import { RepositoryItem } from './repository-item.tsx';

export function RepositoriesPage() {
  usePageTitle('Repositories');
  const { projectId = '' } = useParams();
  const project = useQuery(queries.project(projectId));
  const query = useQuery(queries.repositories(projectId));
  const canEdit = project.data !== undefined && project.data.role !== 'member';
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Repositories
      </Heading>
      {project.data?.role === 'member' && (
        <p className="muted">Only admins and owners of the project can connect repositories.</p>
      )}
      <QueryResult query={query}>
        {(repositories) =>
          repositories.length === 0 ? (
            <NoRepositories canEdit={canEdit} />
          ) : (
            <ul className="list">
              {repositories.map((repository) => (
                <RepositoryItem key={repository.id} repository={repository} canEdit={canEdit} />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {canEdit && <ConnectRepository projectId={projectId} />}
    </div>
  );
}

function NoRepositories({ canEdit }: { canEdit: boolean }) {
  return (
    <EmptyState title="No repositories yet">
      {serviceInfo.installUrl ? (
        <p>
          <a href={serviceInfo.installUrl}>Install the GitHub App</a>
          {canEdit ? ' or connect a repository below.' : ' or ask an admin to connect a repository.'}
        </p>
      ) : (
        <p>{canEdit ? 'Connect a repository below.' : 'Ask an admin to connect a repository.'}</p>
      )}
    </EmptyState>
  );
}
