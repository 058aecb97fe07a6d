import { Button } from '@primer/react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import type { AuditRecord } from '../api.ts';
import { QueryResult } from '../display/query-result.tsx';
import { EmptyState } from '../display/sections.tsx';
import { PageHeader, usePageTitle } from '../frame/page-header.tsx';
import * as queries from '../live/queries.ts';
import { AuditItem } from './audit-item.tsx';
import { useNamedIds } from './use-named-ids.ts';

/** Shows who changed what in a project, newest first, a page at a time. */
export function AuditPage() {
  usePageTitle('Audit log');
  const { projectId = '' } = useParams();
  const query = useInfiniteQuery(queries.auditRecords(projectId));
  return (
    <div className="narrow stack">
      <PageHeader title="Audit log">
        <Button as="a" href={`/api/v1/projects/${projectId}/audit?format=ndjson`} download="audit.ndjson">
          Export
        </Button>
      </PageHeader>
      <p className="muted">
        Everything that people changed, and every status that the service gave to a task. The export has one JSON object
        per line.
      </p>
      <QueryResult query={query} rows={8}>
        {(records) =>
          records.length === 0 ? (
            <EmptyState title="No changes yet">
              Changes of the project appear here, with the person who made them.
            </EmptyState>
          ) : (
            <Records projectId={projectId} records={records} />
          )
        }
      </QueryResult>
      {query.hasNextPage && (
        <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Load more
        </Button>
      )}
    </div>
  );
}

function Records({ projectId, records }: { projectId: string; records: AuditRecord[] }) {
  const named = useNamedIds(projectId, records);
  return (
    <ul className="list" aria-label="Changes">
      {records.map((record) => (
        <AuditItem key={record.id} record={record} named={named} />
      ))}
    </ul>
  );
}
