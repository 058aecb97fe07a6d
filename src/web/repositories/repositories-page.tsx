import { Flash, Heading, Label, useConfirm } from '@primer/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { useParams } from 'react-router';
import * as api from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { useMay } from '../forms/may.tsx';
import { notify, notifyError } from '../frame/notices.tsx';
import { usePageTitle } from '../frame/page-header.tsx';
import { serviceInfo } from '../frame/service-info.ts';
import { lazyPart } from '../live/load-part.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import * as queries from '../live/queries.ts';
import { type RowAction, RowActions, RowLine } from '../rows/row-actions.tsx';
import { useIsNarrow } from '../rows/use-is-narrow.ts';
import { foundText } from './choosing.ts';
import { ConnectRepository } from './connect-repository.tsx';

export function RepositoriesPage() {
  usePageTitle('Repositories');
  const { projectId = '' } = useParams();
  const project = useQuery(queries.project(projectId));
  const query = useQuery(repositoryQueries.repositories(projectId));
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
  const { url, name, isPrimary, isDocsRepo } = repository;
  const test = useMutation({
    mutationFn: () => api.validateRepository(repository.id),
    onError: notifyError,
  });
  const isNarrow = useIsNarrow();
  const [dialog, setDialog] = useState<'import' | 'review'>();
  const close = () => setDialog(undefined);
  const work = useWork(repository, { isBusy: test.isPending, onTest: () => test.mutate(), onOpen: setDialog });
  const edit = useEdit(repository, canEdit);
  return (
    <li className="list-item">
      <RowLine actions={<RowActions of={name} actions={isNarrow ? [...work, ...edit] : edit} />}>
        <a href={url} rel="noopener nofollow" target="_blank" className="strong">
          {name}
        </a>
        {isPrimary && <Label variant="accent">Primary</Label>}
        {isDocsRepo && <Label variant="done">Documentation</Label>}
      </RowLine>
      {!isNarrow && <RowActions of={name} actions={work} />}
      {test.data && <TestResult result={test.data} />}
      <Suspense>{dialog === 'review' && <ReviewPull repository={repository} onClose={close} />}</Suspense>
      <Suspense>{dialog === 'import' && <ImportIssues repository={repository} onClose={close} />}</Suspense>
    </li>
  );
}

/** Returns where a repository leads, and what members can do with it. */
function useWork(
  { id, projectId, name }: api.RepositoryEntry,
  { isBusy, onTest, onOpen }: { isBusy: boolean; onTest(): void; onOpen(dialog: 'import' | 'review'): void },
): RowAction[] {
  const isMember = useMay('member');
  const page = `/projects/${projectId}/repositories/${id}`;
  const pages = [
    { name: 'Environment', label: `Environment of ${name}`, to: page },
    { name: 'Proofs', label: `Proofs in ${name}`, to: `${page}/proofs` },
    { name: 'Benchmark', label: `Benchmark of ${name}`, to: `${page}/benchmark` },
    { name: 'Portfolio', label: `Portfolio of ${name}`, to: `${page}/portfolio` },
  ];
  if (!isMember) return pages;
  return [
    { name: 'Test connection', label: `Test connection of ${name}`, isBusy, onSelect: onTest },
    ...pages,
    { name: 'Import issues', label: `Import issues of ${name}`, onSelect: () => onOpen('import') },
    {
      name: 'Review a pull request',
      label: `Review a pull request of ${name}`,
      onSelect: () => onOpen('review'),
    },
  ];
}

/** Returns what admins can change about a repository. */
function useEdit({ id, projectId, name, isPrimary, isDocsRepo }: api.RepositoryEntry, canEdit: boolean): RowAction[] {
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
  if (!canEdit) return [];
  return [
    ...(isPrimary ? [] : [{ name: 'Make primary', onSelect: () => update.mutate({ isPrimary: true }) }]),
    {
      name: isDocsRepo ? 'Stop using for documentation' : 'Use for documentation',
      onSelect: () =>
        update.mutate(
          { isDocsRepo: !isDocsRepo },
          {
            onSuccess: () =>
              notify(
                isDocsRepo
                  ? `Requirements of plans are no longer proposed in ${name}.`
                  : `Requirements of plans are proposed in ${name} when their sprint is created.`,
                'success',
              ),
          },
        ),
    },
    { name: 'Disconnect', isDanger: true, onSelect: () => void disconnect() },
  ];
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
