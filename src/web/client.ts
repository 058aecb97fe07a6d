import { QueryClient } from '@tanstack/react-query';

/** What a reply that is no success says. */
export interface Failed {
  status: number;
  data?: { message?: string };
}

const isFailed = (error: unknown): error is Failed => typeof (error as Failed | null)?.status === 'number';

export const statusOf = (error: unknown): number | undefined => (isFailed(error) ? error.status : undefined);

/** What went wrong, in words for people: the service's own where it answered. */
export function explain(error: unknown): string {
  if (isFailed(error)) {
    if (error.status === 429) return 'Too many requests in a minute. Wait a moment and try again.';
    return error.data?.message ?? `The service answered with ${error.status}. Try again; the operator's log has more.`;
  }
  if (error instanceof TypeError) return 'The service cannot be reached. Check your connection and try again.';
  return error instanceof Error ? error.message : 'Something went wrong. Try again.';
}

/** The sign-in page, which leads back to where one was. */
export function signInAddress(): string {
  const { pathname, search } = window.location;
  return `/login?return_to=${encodeURIComponent(pathname + search)}`;
}

/** Changes come by the project's event stream, so what is there stays good until somebody says otherwise. */
export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5 * 60_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => {
        const status = statusOf(error);
        return count < 2 && (status === undefined || status >= 500 || status === 429);
      },
    },
  },
});

client.getQueryCache().subscribe(({ type, query }) => {
  // A session ends after twelve hours, whatever page is open then.
  if (type === 'updated' && statusOf(query.state.error) === 401 && window.location.pathname !== '/login')
    window.location.assign(signInAddress());
});
