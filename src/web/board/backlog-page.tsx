import { Button } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { useParams, useSearchParams } from 'react-router';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { BacklogList } from './backlog-list.tsx';

const NewTaskDialog = lazyPart(async () => ({ default: (await import('../tasks/new-task-dialog.tsx')).NewTaskDialog }));

/** Shows the open tasks that are not in a sprint. */
export function BacklogPage() {
  usePageTitle('Backlog');
  const { projectId = '' } = useParams();
  const [searchParams, setSearchParams] = useSearchParams();
  const query = useQuery(queries.tasks(projectId));
  return (
    <div className="narrow">
      <PageHeader title="Backlog">
        <Button onClick={() => setSearchParams({ new: 'many' })}>Paste a list</Button>
        <Button variant="primary" onClick={() => setSearchParams({ new: 'one' })}>
          New task
        </Button>
      </PageHeader>
      <QueryResult query={query} rows={8}>
        {(allTasks) => {
          const tasks = allTasks.filter((t) => t.sprintId === null && t.status !== 'done');
          if (tasks.length > 0) return <BacklogList projectId={projectId} tasks={tasks} />;
          return (
            <EmptyState title="The backlog is empty">
              Open tasks that are not in a sprint appear here. Create a task to add one.
            </EmptyState>
          );
        }}
      </QueryResult>
      <Suspense>
        {searchParams.get('new') !== null && (
          <NewTaskDialog projectId={projectId} onClose={() => setSearchParams({})} />
        )}
      </Suspense>
    </div>
  );
}
