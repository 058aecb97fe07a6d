import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import * as api from '../api.ts';
import { subscribe } from '../live/event-stream.ts';
import { mayGoOn } from '../live/fetch-lists.ts';
import { openTimeline, type Piece, type Timeline } from './timeline.ts';

/** Every type of entry that a log may contain. A browser only receives the events that it names. */
const eventTypes = [
  'answered',
  'approved',
  'assignment',
  'cancelled',
  'check',
  'failed',
  'loop',
  'mcp',
  'model',
  'network',
  'pausing',
  'plan',
  'proof',
  'pull',
  'push',
  'repository',
  'resumed',
  'revised',
  'said',
  'setup',
  'tool',
  'waiting',
];

/** What arrives within this time is shown together, so that a fast run does not keep the page busy. */
const batchMs = 400;

/** Turns that are fetched at once. */
const pageSize = 100;

interface RunLog {
  timeline: Timeline;
  /** Changes whenever the timeline has changed. */
  version: number;
  state: 'live' | 'ended' | 'lost';
  /** Why the service refuses the stream; undefined unless it does. */
  refusal: string | undefined;
  /** Why the turns could not be fetched. */
  problem: unknown;
  retry(): void;
}

/** Returns what happened in a run, updated until it has ended. Render it once per run: use the run's id as the key. */
export function useRunLog({ id, steps }: Pick<api.Run, 'id' | 'steps'>): RunLog {
  const timeline = useMemo(openTimeline, []);
  const [version, setVersion] = useState(0);
  const [state, setState] = useState<RunLog['state']>('live');
  const [refusal, setRefusal] = useState<string>();
  const show = useCallback(() => setVersion((n) => n + 1), []);
  const { fetchTurns, problem } = useTurns(id, timeline, show);
  useEffect(
    () => followLog(id, timeline, { show, setState, setRefusal, onGap: () => void fetchTurns() }),
    [id, timeline, show, fetchTurns],
  );
  // Every stored turn of a run in progress changes its number of steps.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another step means another turn
  useEffect(() => void fetchTurns(), [fetchTurns, steps]);
  return { timeline, version, state, refusal, problem, retry: () => void fetchTurns() };
}

interface Follower {
  show(): void;
  setState(state: RunLog['state']): void;
  setRefusal(reason: string | undefined): void;
  /** Called when turns may have been missed. */
  onGap(): void;
}

/** Follows the log of a run until it ends or the returned function is called. */
export function followLog(runId: string, timeline: Timeline, follower: Follower): () => void {
  const { show, setState, setRefusal, onGap } = follower;
  let received: api.RunEvent[] = [];
  let pieces: Piece[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasEnded = false;
  const flush = () => {
    timer = undefined;
    timeline.addEvents(received);
    for (const piece of pieces) timeline.write(piece);
    received = [];
    pieces = [];
    show();
  };
  const receive = (event: MessageEvent<string>) => {
    received.push(JSON.parse(event.data) as api.RunEvent);
    timer ??= setTimeout(flush, batchMs);
  };
  const unsubscribe = subscribe(`/api/v1/runs/${encodeURIComponent(runId)}/events`, {
    events: {
      ...Object.fromEntries(eventTypes.map((type) => [type, receive])),
      delta: ({ data }) => {
        pieces.push(JSON.parse(data) as Piece);
        timer ??= setTimeout(flush, batchMs);
      },
      end: () => {
        hasEnded = true;
        setState('ended');
        unsubscribe();
        onGap();
      },
    },
    onOpen: (isFirst) => {
      setState('live');
      setRefusal(undefined);
      if (!isFirst) onGap();
    },
    onLost: () => setState(hasEnded ? 'ended' : 'lost'),
    // Another window may be closed, so the stream is asked for again. The reason stays until then.
    onRefused: async (reason) => {
      setRefusal(reason || undefined);
      return true;
    },
  });
  return () => {
    unsubscribe();
    clearTimeout(timer);
  };
}

/** Fetches the turns that the timeline does not have yet, one page after the other. */
function useTurns(runId: string, timeline: Timeline, show: () => void) {
  const [problem, setProblem] = useState<unknown>();
  const fetching = useRef<Promise<void>>(undefined);
  const isWanted = useRef(false);
  const fetchTurns = useCallback((): Promise<void> => {
    isWanted.current = true;
    const fetchAll = async () => {
      try {
        while (isWanted.current) {
          isWanted.current = false;
          const page = await api.listRunTurns(runId, { limit: pageSize, offset: timeline.turns().length });
          timeline.addTurns(page);
          if (page.length > 0) show();
          isWanted.current ||= mayGoOn(page, pageSize);
        }
        setProblem(undefined);
      } catch (error) {
        setProblem(error);
      } finally {
        // No `await` may follow the last check of `isWanted`: a later request for turns has to start a new fetch.
        fetching.current = undefined;
      }
    };
    fetching.current ??= fetchAll();
    return fetching.current;
  }, [runId, timeline, show]);
  return { fetchTurns, problem };
}
