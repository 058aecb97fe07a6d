import { PlusIcon } from '@primer/octicons-react';
import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useRef } from 'react';
import { Link, useParams } from 'react-router';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { May, useMay, useNewParam } from '../forms/may.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { useShortcuts } from '../keys/shortcuts.ts';
import { lazyPart } from '../live/load-part.ts';
import * as repositoryQueries from '../live/queries/repositories.ts';
import * as queries from '../live/queries.ts';
import { NextStep, useOnboarding } from '../onboarding/checklist.tsx';
import { Board } from './board.tsx';
import { BoardFilters } from './board-filters.tsx';
import { useFilters } from './use-filters.ts';
import { ViewsButton } from './views/views-button.tsx';

const NewTaskDialog = lazyPart(async () => ({
  default: (await import('../tasks/editing/new-task-dialog.tsx')).NewTaskDialog,
}));

export function BoardPage() {
  const { projectId = '' } = useParams();
  const project = useQuery(queries.project(projectId));
  usePageTitle('Board', project.data?.name);
  const query = useQuery(queries.board(projectId));
  const onboarding = useOnboarding(projectId);
  const filters = useFilters();
  const { searchParams, setParam, searchText, setQuery } = filters;
  const searchField = useRef<HTMLInputElement>(null);
  const mayCreate = useMay('member');
  useNewParam(mayCreate);
  const isCreating = mayCreate && searchParams.get('new') !== null;
  useShortcuts({
    search: () => searchField.current?.focus(),
    ...(mayCreate ? { newTask: () => setParam('new', 'one') } : {}),
  });
  return (
    <>
      <PageHeader title="Board">
        <BoardFilters board={query.data} filters={filters} searchField={searchField} />
        <ViewsButton projectId={projectId} searchParams={searchParams} onApply={setQuery} />
        <May>
          <Button
            variant="primary"
            leadingVisual={PlusIcon}
            onClick={() => setParam('new', 'one')}
            aria-keyshortcuts="n"
          >
            New task
          </Button>
        </May>
      </PageHeader>
      <May otherwise="Members of the project can create, start and move tasks.">
        <NextStep onboarding={onboarding} />
      </May>
      <QueryResult query={query} rows={8}>
        {(board) =>
          board.tasks.length === 0 ? (
            <FirstSteps projectId={projectId} />
          ) : (
            <Board
              projectId={projectId}
              board={board}
              searchParams={searchParams}
              searchText={searchText}
              onClearFilters={() => setQuery('')}
            />
          )
        }
      </QueryResult>
      <Suspense>{isCreating && <NewTaskDialog projectId={projectId} onClose={() => setParam('new', null)} />}</Suspense>
    </>
  );
}

function FirstSteps({ projectId }: { projectId: string }) {
  const { data } = useQuery(repositoryQueries.repositories(projectId));
  if (!useMay('member')) return <EmptyState title="No tasks yet">The tasks of the project appear here.</EmptyState>;
  return (
    <EmptyState title="No tasks yet">
      {data?.length === 0 ? (
        <p>
          <Link to={`/projects/${projectId}/repositories`}>Connect a repository</Link> first, so that agents have one to
          work in.
        </p>
      ) : (
        <p>
          Press <kbd>n</kbd> to create a task, <Link to={`/projects/${projectId}/plan`}>plan a goal</Link>, or comment{' '}
          <code>/agent start</code> on a GitHub issue.
        </p>
      )}
    </EmptyState>
  );
}
