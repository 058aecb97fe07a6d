import { QueryClient } from '@tanstack/react-query';

/** What a reply that is no success says. */
export interface Failed {
  status: number;
  data?: { message?: string };
}

const isFailed = (error: unknown): error is Failed => typeof (error as Failed | null)?.status === 'number';

export const statusOf = (error: unknown): number | undefined => (isFailed(error) ? error.status : undefined);

/** Whether what was asked for is not there for whoever asks, whatever was shown of it before. */
export const isGone = (error: unknown): boolean => [403, 404].includes(statusOf(error) ?? 0);

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

/** What no event speaks of is asked for again with each page and when the window comes back. */
export const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => {
        const status = statusOf(error);
        return count < 2 && (status === undefined || status >= 500 || status === 429);
      },
    },
  },
});

/** A session ends after twelve hours, whatever page is open then. */
function signInAgain(error: unknown): void {
  if (statusOf(error) === 401 && window.location.pathname !== '/login') window.location.assign(signInAddress());
}

client.getQueryCache().subscribe(({ query }) => signInAgain(query.state.error));
client.getMutationCache().subscribe(({ mutation }) => signInAgain(mutation?.state.error));
