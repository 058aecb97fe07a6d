import { Button } from '@primer/react';
import { isRouteErrorResponse, useRouteError } from 'react-router';
import { EmptyState } from '../display/empty-state.tsx';
import { errorMessage } from '../live/errors.ts';

/**
 * Replaces a page that failed to load or to render. Loading fails, for example, after an update, which removes the old
 * script files.
 */
export function PageError() {
  const error = useRouteError();
  const isOutdated = error instanceof TypeError && /import|fetch/i.test(error.message);
  return (
    <main className="page">
      <EmptyState as="h1" title={isOutdated ? 'A new version is available' : 'Something went wrong on this page'}>
        <p className="wrap">{isOutdated ? 'Reload the page to use it.' : messageOf(error)}</p>
        <Button variant="primary" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </EmptyState>
    </main>
  );
}

const messageOf = (error: unknown) => (isRouteErrorResponse(error) ? error.statusText : errorMessage(error));
