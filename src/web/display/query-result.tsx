import { Button, SkeletonBox } from '@primer/react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { errorMessage, isInaccessible, statusOf } from '../live/errors.ts';
import { EmptyState } from './sections.tsx';

interface Query<T> {
  data: T | undefined;
  error: unknown;
  /** `paused` while the query waits for a connection. */
  fetchStatus: string;
  refetch(): unknown;
}

/**
 * Shows the data of a query, a skeleton while it loads, or its error. `isPage` makes the error the main heading, for pages
 * that have no other.
 */
export function QueryResult<T>(props: {
  query: Query<T>;
  rows?: number;
  isPage?: boolean;
  children: (data: T) => ReactNode;
}) {
  const { query, rows = 4, isPage = false, children } = props;
  if (query.data !== undefined && !isInaccessible(query.error)) return children(query.data);
  if (query.fetchStatus === 'paused')
    return (
      <EmptyState as={isPage ? 'h1' : 'h2'} title="You are offline">
        <p>This will load when the connection is back.</p>
      </EmptyState>
    );
  if (!query.error) return <Loading rows={rows} />;
  const isMissing = statusOf(query.error) === 404;
  return (
    <EmptyState as={isPage ? 'h1' : 'h2'} title={isMissing ? 'Not found' : 'Could not load this'}>
      <p className="wrap">{errorMessage(query.error)}</p>
      <Button onClick={() => void query.refetch()}>Try again</Button>
      {isPage && isMissing && (
        <p>
          <Link to="/projects">Your projects</Link>
        </p>
      )}
    </EmptyState>
  );
}

export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="stack">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical
        <SkeletonBox key={i} height="32px" />
      ))}
    </div>
  );
}
