import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { subscribe } from '../live/event-stream.ts';
import * as queries from '../live/queries.ts';

/** Events that arrive within this time cause one request. */
const batchMs = 100;

/** Fetches the inbox again whenever it may have changed in any project. */
export function useInboxEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    let timeout: ReturnType<typeof setTimeout> | undefined;
    const refetch = () => {
      timeout = undefined;
      void client.invalidateQueries({ queryKey: queries.inbox().queryKey });
    };
    const refetchSoon = () => {
      timeout ??= setTimeout(refetch, batchMs);
    };
    const unsubscribe = subscribe('/api/v1/me/inbox', { events: { inbox: refetchSoon }, onOpen: refetchSoon });
    return () => {
      unsubscribe();
      clearTimeout(timeout);
    };
  }, [client]);
}
