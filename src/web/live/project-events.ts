import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { isInaccessible } from './errors.ts';
import { type StreamHandlers, silenceMs, subscribe } from './event-stream.ts';
import * as queries from './queries.ts';
import { boardUpdates, type Changed, refetchChanges } from './refetch-changes.ts';
import { soon } from './soon.ts';

/** How long pages wait for the stream to open before they load their data anyway. */
export const openTimeoutMs = 1500;

type StreamState = 'open' | 'lost';
/** `reason` says why the service refuses the stream, if it does. */
type SetState = (state: StreamState, reason?: string) => void;

const noStream = { projectId: undefined, state: 'open', reason: undefined } as const;

/**
 * Keeps the cached data of a project up to date through its event stream. Events carry no state: the objects they name
 * are fetched again. Data fetched while the stream is `opening` could miss a change, so pages wait until it is open.
 */
export function useProjectEvents(projectId: string | undefined): {
  state: 'opening' | StreamState;
  reason: string | undefined;
} {
  const client = useQueryClient();
  const [stream, setStream] = useState<{
    projectId: string | undefined;
    state: StreamState;
    reason: string | undefined;
  }>(noStream);
  useEffect(() => {
    if (projectId === undefined) return;
    const unfollow = takeOver(client, projectId, (state, reason) => setStream({ projectId, state, reason }));
    return () => {
      unfollow();
      // When the person comes back to this project, its stream has to open again.
      setStream(noStream);
    };
  }, [client, projectId]);
  const isKnown = projectId === undefined || stream.projectId === projectId;
  return isKnown ? stream : { state: 'opening', reason: undefined };
}

/** A stream that was opened before there was a page, until the page takes it over. */
let early: { projectId: string; takeOver(setState: SetState): () => void } | undefined;

/**
 * Follows the events of a project before its page is rendered, so that what the page shows can be fetched while its script is
 * still on its way. Calls `onOpen` as soon as no change can be missed.
 */
export function followEarly(client: QueryClient, projectId: string, onOpen: () => void): void {
  let now: StreamState | undefined;
  let tell: SetState = () => {};
  const unfollow = followProject(client, projectId, (state, reason) => {
    if (now === undefined && state === 'open') onOpen();
    now = state;
    tell(state, reason);
  });
  const takeOverHere = (setState: SetState) => {
    tell = setState;
    if (now !== undefined) setState(now);
    return unfollow;
  };
  early = { projectId, takeOver: takeOverHere };
}

/** Follows the events of a project, with the stream that was opened early if there is one. */
export function takeOver(client: QueryClient, projectId: string, setState: SetState): () => void {
  const opened = early;
  early = undefined;
  if (opened?.projectId === projectId) return opened.takeOver(setState);
  // The person went elsewhere before the first page was there.
  opened?.takeOver(() => {})();
  return followProject(client, projectId, setState);
}

/** Follows the events of a project until the returned function is called. Pages wait for the stream for `patienceMs`. */
export function followProject(
  client: QueryClient,
  projectId: string,
  setState: SetState,
  patienceMs = openTimeoutMs,
): () => void {
  let isLate = false;
  const openTimeout = setTimeout(() => {
    isLate = true;
    setState('lost');
  }, patienceMs);
  const updateBoard = boardUpdates(client, projectId);
  let cancelFlush = () => {};
  let changes = new Map<string, Changed>();
  const flush = () => {
    const batch = changes;
    changes = new Map();
    refetchChanges(client, projectId, batch, updateBoard);
  };
  const note = (id: string, kind: Changed) => {
    // A step must not replace a change of the status, after which more has to be fetched.
    if (kind !== 'step' || !changes.has(id)) changes.set(id, kind);
    cancelFlush = soon(flush);
  };
  const record = (kind: Changed) => (event: MessageEvent<string>) =>
    note((JSON.parse(event.data) as { id: string }).id, kind);
  const isStep = knownStatuses();
  const handlers: StreamHandlers = {
    events: {
      task: record('task'),
      run: (event: MessageEvent<string>) => {
        const { id, status } = JSON.parse(event.data) as { id: string; status: string };
        note(id, isStep(id, status) ? 'step' : 'run');
      },
      sprint: record('sprint'),
      chat: (event: MessageEvent<string>) => {
        const { id } = JSON.parse(event.data) as { id: string };
        void client.invalidateQueries({ queryKey: ['chat', id] });
      },
      plan: (event: MessageEvent<string>) => {
        const { id } = JSON.parse(event.data) as { id: string };
        void client.invalidateQueries({ queryKey: queries.wizards(projectId).queryKey });
        void client.invalidateQueries({ queryKey: queries.wizard(projectId, id).queryKey });
      },
      // Their roles, and perhaps the role of the person who looks.
      member: () => {
        void client.invalidateQueries({ queryKey: queries.members(projectId).queryKey });
        void client.invalidateQueries({ queryKey: queries.project(projectId).queryKey });
      },
      automation: () => void client.invalidateQueries({ queryKey: queries.automations(projectId).queryKey }),
      reset: () => void client.invalidateQueries(),
    },
    onOpen: (isFirst) => {
      clearTimeout(openTimeout);
      setState('open');
      // Pages wait for the stream. Before it first opens, only a task or sprint has been fetched, to find its project.
      // If the stream opened too late or was lost, anything that pages show may have changed.
      const wasFetchedEarly = (kind: unknown) => kind === 'task' || kind === 'sprint';
      const isComplete = isFirst && !isLate;
      void client.invalidateQueries(isComplete ? { predicate: ({ queryKey: [kind] }) => wasFetchedEarly(kind) } : {});
    },
    onLost: () => setState('lost'),
    // People who are not members see the error of the project's own request, so reconnecting is pointless.
    onRefused: async (reason) => {
      setState('lost', reason);
      const { queryKey } = queries.project(projectId);
      await client.refetchQueries({ queryKey });
      return !isInaccessible(client.getQueryState(queryKey)?.error);
    },
  };
  const address = `/api/v1/projects/${encodeURIComponent(projectId)}/events`;
  const unsubscribe = subscribe(address, handlers, { isShared: true, silenceMs });
  return () => {
    unsubscribe();
    clearTimeout(openTimeout);
    cancelFlush();
    // From now on no event reports changes of the board, so it has to count as stale.
    void client.invalidateQueries({ queryKey: queries.board(projectId).queryKey, exact: true, refetchType: 'none' });
  };
}

/** Statuses of more runs than this are not remembered. */
const maxStatuses = 500;

/** Returns a function that returns whether a run had this status already. */
function knownStatuses(): (id: string, status: string) => boolean {
  const statuses = new Map<string, string>();
  return (id, status) => {
    const isSame = statuses.get(id) === status;
    statuses.delete(id);
    statuses.set(id, status);
    const [oldest] = statuses.keys();
    if (statuses.size > maxStatuses && oldest !== undefined) statuses.delete(oldest);
    return isSame;
  };
}
