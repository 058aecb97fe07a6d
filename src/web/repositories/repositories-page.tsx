import { Button, Flash, Heading, Label, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Link, useParams } from 'react-router';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { May, useMay } from '../forms/may.tsx';
import { notifyError } from '../frame/notices.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { serviceInfo } from '../frame/service-info.ts';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { foundText } from './choosing.ts';
import { ConnectRepository } from './connect-repository.tsx';

export function RepositoriesPage() {
  usePageTitle('Repositories');
  const { projectId = '' } = useParams();
  const project = useQuery(queries.project(projectId));
  const query = useQuery(queries.repositories(projectId));
  const canEdit = useMay('admin');
  return (
    <div className="narrow stack">
      <Heading as="h1" variant="medium">
        Repositories
      </Heading>
      {project.data !== undefined && !canEdit && (
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

const ImportIssues = lazyPart(async () => ({ default: (await import('./import-issues.tsx')).ImportIssues }));

const ReviewPull = lazyPart(async () => ({ default: (await import('./review-pull.tsx')).ReviewPull }));

const maxBranches = 20;

function RepositoryItem({ repository, canEdit }: { repository: api.RepositoryEntry; canEdit: boolean }) {
  const test = useMutation({
    mutationFn: () => api.validateRepository(repository.id),
    onError: notifyError,
  });
  const [isImporting, setImporting] = useState(false);
  const [isReviewing, setReviewing] = useState(false);
  return (
    <li className="list-item">
      <a href={repository.url} rel="noopener nofollow" target="_blank" className="strong">
        {repository.name}
      </a>
      {repository.isPrimary && <Label variant="accent">Primary</Label>}
      {repository.isDocsRepo && <Label variant="done">Documentation</Label>}
      <span className="grow" />
      {canEdit && <EditButtons repository={repository} />}
      <div className="row wrap-row full-width">
        <May>
          <Button size="small" loading={test.isPending} onClick={() => test.mutate()}>
            Test connection
          </Button>
        </May>
        <Button
          as={Link}
          size="small"
          to={`/projects/${repository.projectId}/repositories/${repository.id}`}
          aria-label={`Environment of ${repository.name}`}
        >
          Environment
        </Button>
        <Button
          as={Link}
          size="small"
          to={`/projects/${repository.projectId}/repositories/${repository.id}/proofs`}
          aria-label={`Proofs in ${repository.name}`}
        >
          Proofs
        </Button>
        <Button
          as={Link}
          size="small"
          to={`/projects/${repository.projectId}/repositories/${repository.id}/benchmark`}
          aria-label={`Benchmark of ${repository.name}`}
        >
          Benchmark
        </Button>
        <Button
          as={Link}
          size="small"
          to={`/projects/${repository.projectId}/repositories/${repository.id}/portfolio`}
          aria-label={`Portfolio of ${repository.name}`}
        >
          Portfolio
        </Button>
        <May>
          <Button size="small" aria-label={`Import issues of ${repository.name}`} onClick={() => setImporting(true)}>
            Import issues
          </Button>
          <Button
            size="small"
            aria-label={`Review a pull request of ${repository.name}`}
            onClick={() => setReviewing(true)}
          >
            Review a pull request
          </Button>
        </May>
      </div>
      {test.data && <TestResult result={test.data} />}
      <Suspense>{isReviewing && <ReviewPull repository={repository} onClose={() => setReviewing(false)} />}</Suspense>
      <Suspense>{isImporting && <ImportIssues repository={repository} onClose={() => setImporting(false)} />}</Suspense>
    </li>
  );
}

function EditButtons({
  repository: { id, projectId, name, isPrimary, isDocsRepo },
}: {
  repository: api.RepositoryEntry;
}) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const onSuccess = () => client.invalidateQueries({ queryKey: ['repositories', projectId] });
  const update = useMutation({
    mutationFn: (change: { isPrimary?: boolean; isDocsRepo?: boolean }) => api.updateRepository(id, change),
    onSuccess,
    onError: notifyError,
  });
  const removal = useMutation({
    mutationFn: () => api.disconnectRepository(id),
    onSuccess,
    onError: notifyError,
  });
  const disconnect = async () => {
    const isConfirmed = await confirm({
      title: `Disconnect ${name}?`,
      content: 'The repository on GitHub is not changed.',
      confirmButtonContent: 'Disconnect',
      confirmButtonType: 'danger',
    });
    if (isConfirmed) removal.mutate();
  };
  return (
    <div className="row wrap-row">
      {!isPrimary && (
        <Button size="small" onClick={() => update.mutate({ isPrimary: true })}>
          Make primary
        </Button>
      )}
      <Button size="small" onClick={() => update.mutate({ isDocsRepo: !isDocsRepo })}>
        {isDocsRepo ? 'Stop using for documentation' : 'Use for documentation'}
      </Button>
      <Button size="small" variant="danger" onClick={() => void disconnect()}>
        Disconnect
      </Button>
    </div>
  );
}

function TestResult({ result: { valid, canPush, ...found } }: { result: api.RepositoryValidation }) {
  const usable = canPush ? 'success' : 'warning';
  return (
    <Flash variant={valid ? usable : 'danger'} className="full-width" role="status">
      {foundText(found)}
      {found.branches && ` ${branchText(found.branches)}`}
    </Flash>
  );
}

function branchText(branches: string[]): string {
  const names = branches.slice(0, maxBranches).join(', ');
  const hidden = branches.length - maxBranches;
  return `Branches: ${names}${hidden > 0 ? ` and ${hidden} more` : ''}`;
}
