import { useEffect, useState } from 'react';
import type { RunEvent } from '../../api.ts';
import { subscribe } from '../../live/event-stream.ts';

/** Every type of line that a log may contain. A browser only receives the events that it names. */
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

/** Characters shown of what the model is writing. */
const maxWriting = 2000;

interface RunEvents {
  events: RunEvent[];
  /** The end of what the model is writing; empty between its answers. */
  writing: string;
  state: 'live' | 'ended' | 'lost';
}

/** Returns the log of a run so far, updated until the run has ended. */
export function useRunEvents(runId: string): RunEvents {
  const [events, setEvents] = useState<RunEvent[]>([]);
  const [writing, setWriting] = useState('');
  const [state, setState] = useState<'live' | 'ended' | 'lost'>('live');
  useEffect(() => {
    let received: RunEvent[] = [];
    let frame = 0;
    // The lines of an existing log arrive together. Adding them in one update renders the log once instead of once per
    // line.
    const flush = () => {
      const batch = received;
      received = [];
      frame = 0;
      setEvents((before) => {
        const known = new Set(before.map((e) => e.id));
        return [...before, ...batch.filter((e) => !known.has(e.id))];
      });
    };
    const receive = (event: MessageEvent<string>) => {
      received.push(JSON.parse(event.data) as RunEvent);
      setWriting('');
      frame ||= requestAnimationFrame(flush);
    };
    const unsubscribe = subscribe(`/api/v1/runs/${encodeURIComponent(runId)}/events`, {
      events: {
        ...Object.fromEntries(eventTypes.map((type) => [type, receive])),
        delta: ({ data }) => {
          const { text, restarts } = JSON.parse(data) as { text: string; restarts?: boolean };
          setWriting((before) => ((restarts ? '' : before) + text).slice(-maxWriting));
        },
        end: () => {
          setWriting('');
          setState('ended');
          unsubscribe();
        },
      },
      onOpen: () => setState('live'),
      onLost: () => setState((before) => (before === 'ended' ? before : 'lost')),
    });
    return () => {
      unsubscribe();
      cancelAnimationFrame(frame);
    };
  }, [runId]);
  return { events, writing, state };
}
