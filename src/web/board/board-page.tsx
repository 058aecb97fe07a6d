import { PlusIcon } from '@primer/octicons-react';
import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { Link, useParams } from 'react-router';
import { EmptyState } from '../display/empty-state.tsx';
import { QueryResult } from '../display/query-result.tsx';
import { PageHeader } from '../frame/page-header.tsx';
import { usePageTitle } from '../frame/use-page-title.ts';
import * as queries from '../live/queries.ts';
import { Board } from './board.tsx';
import { BoardFilters } from './board-filters.tsx';
import { useFilters } from './use-filters.ts';

const NewTaskDialog = lazy(async () => ({ default: (await import('../tasks/new-task-dialog.tsx')).NewTaskDialog }));

export function BoardPage() {
  const { projectId = '' } = useParams();
  const project = useQuery(queries.project(projectId));
  usePageTitle('Board', project.data?.name);
  const query = useQuery(queries.tasks(projectId));
  const filters = useFilters();
  const { searchParams, setParam, searchText } = filters;
  const searchField = useRef<HTMLInputElement>(null);
  const isCreating = searchParams.get('new') !== null;
  useShortcuts(!isCreating, {
    '/': () => searchField.current?.focus(),
    n: () => setParam('new', 'one'),
  });
  return (
    <>
      <PageHeader title="Board">
        <BoardFilters projectId={projectId} filters={filters} searchField={searchField} />
        <Button variant="primary" leadingVisual={PlusIcon} onClick={() => setParam('new', 'one')} aria-keyshortcuts="n">
          New task
        </Button>
      </PageHeader>
      <QueryResult query={query} rows={8}>
        {(tasks) =>
          tasks.length === 0 ? (
            <FirstSteps projectId={projectId} />
          ) : (
            <Board projectId={projectId} tasks={tasks} searchParams={searchParams} searchText={searchText} />
          )
        }
      </QueryResult>
      <Suspense>{isCreating && <NewTaskDialog projectId={projectId} onClose={() => setParam('new', null)} />}</Suspense>
    </>
  );
}

/** Calls a function when its key is pressed outside of a field. */
function useShortcuts(isEnabled: boolean, shortcuts: Record<string, () => void>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const shortcut = shortcuts[event.key];
      if (shortcut === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!isEnabled || isEditable(event.target)) return;
      shortcut();
      event.preventDefault();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  });
}

const isEditable = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function FirstSteps({ projectId }: { projectId: string }) {
  const { data } = useQuery(queries.repositories(projectId));
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
