import { Button, Heading, SkeletonBox } from '@primer/react';
import type { ReactNode } from 'react';
import { isRouteErrorResponse, useRouteError } from 'react-router';
import { explain, isGone, statusOf } from '../live/query-client.ts';

/** A page or part with nothing in it yet, and what to do next. */
export function Empty({ title, as = 'h2', children }: { title: string; as?: 'h1' | 'h2'; children?: ReactNode }) {
  return (
    <div className="empty">
      <Heading as={as} variant="small">
        {title}
      </Heading>
      <div className="muted">{children}</div>
    </div>
  );
}

export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="stack">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <SkeletonBox key={i} height="32px" />
      ))}
    </div>
  );
}

/** What went wrong with a part of a page, and a way to try again. */
function Failure({ error, as, retry }: { error: unknown; as: 'h1' | 'h2'; retry: () => void }) {
  return (
    <Empty as={as} title={statusOf(error) === 404 ? 'Not found' : 'This could not be loaded'}>
      <p className="wrap">{explain(error)}</p>
      <Button onClick={retry}>Try again</Button>
    </Empty>
  );
}

interface Asked<T> {
  data: T | undefined;
  error: unknown;
  refetch(): unknown;
}

/** What was asked for once it is there; until then a skeleton, or what went wrong. `isPage`: there is no other heading. */
export function Shown<T>(props: { of: Asked<T>; rows?: number; isPage?: boolean; children: (data: T) => ReactNode }) {
  const { of, rows = 4, isPage = false, children } = props;
  if (of.data !== undefined && !isGone(of.error)) return children(of.data);
  if (!of.error) return <Loading rows={rows} />;
  return <Failure as={isPage ? 'h1' : 'h2'} error={of.error} retry={() => void of.refetch()} />;
}

/** In place of a page that broke: after a new release its files may have gone. */
export function BrokenPage() {
  const error = useRouteError();
  const isGone = error instanceof TypeError && /import|fetch/i.test(error.message);
  return (
    <main className="page">
      <Empty as="h1" title={isGone ? 'There is a new version' : 'This page broke'}>
        <p className="wrap">{isRouteErrorResponse(error) ? error.statusText : isGone ? '' : explain(error)}</p>
        <Button variant="primary" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </Empty>
    </main>
  );
}
