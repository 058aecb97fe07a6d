import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { subscribe } from '../live/event-stream.ts';
import * as queries from '../live/queries.ts';
import { soon } from '../live/soon.ts';

/** Fetches the inbox again whenever it may have changed in any project. */
export function useInboxEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    const refetch = () => void client.invalidateQueries({ queryKey: queries.inbox().queryKey });
    let cancel = () => {};
    const refetchSoon = () => {
      cancel = soon(refetch);
    };
    const unsubscribe = subscribe('/api/v1/me/inbox', { events: { inbox: refetchSoon }, onOpen: refetchSoon });
    return () => {
      unsubscribe();
      cancel();
    };
  }, [client]);
}
