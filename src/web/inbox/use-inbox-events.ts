import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { subscribe } from '../live/event-stream.ts';
import { openTimeoutMs } from '../live/project-events.ts';
import * as queries from '../live/queries.ts';
import { soon } from '../live/soon.ts';

/**
 * Fetches the inbox again whenever it may have changed in any project. Returns whether it may be fetched for the first time:
 * when its stream is open, so that one request is enough, or has not opened for a while, as in a hidden tab.
 */
export function useInboxEvents(): boolean {
  const client = useQueryClient();
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    let wasReady = false;
    const becomeReady = () => {
      wasReady = true;
      setReady(true);
    };
    const openTimeout = setTimeout(becomeReady, openTimeoutMs);
    const refetch = () => void client.invalidateQueries({ queryKey: queries.inbox().queryKey });
    let cancel = () => {};
    const refetchSoon = () => {
      cancel = soon(refetch);
    };
    const onOpen = () => {
      if (wasReady) refetchSoon();
      becomeReady();
    };
    const unsubscribe = subscribe('/api/v1/me/inbox', { events: { inbox: refetchSoon }, onOpen });
    return () => {
      unsubscribe();
      clearTimeout(openTimeout);
      cancel();
    };
  }, [client]);
  return isReady;
}
