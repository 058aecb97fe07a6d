import { useEffect, useRef, useState } from 'react';
import type { RunEvent } from '../../api.ts';
import { listenTo } from '../../live/event-stream.ts';

const types = ['loop', 'model', 'tool', 'check', 'push', 'pull', 'repository', 'failed'];
/** Nearer to the foot than this, the log follows what comes. */
const nearPixels = 40;

/** The log of a run, line by line as it is written, to its end. */
export function RunLog({ runId }: { runId: string }) {
  const [events, setEvents] = useState<RunEvent[]>([]);
  const [state, setState] = useState<'live' | 'ended' | 'lost'>('live');
  const foot = useRef<HTMLOListElement>(null);
  const isFollowed = useRef(true);
  useEffect(() => {
    let waiting: RunEvent[] = [];
    let frame = 0;
    const hear = (event: MessageEvent<string>) => {
      waiting.push(JSON.parse(event.data) as RunEvent);
      // A long log comes in one piece; it is shown in one piece too.
      frame ||= requestAnimationFrame(() => {
        const heard = waiting;
        waiting = [];
        frame = 0;
        setEvents((before) => {
          const known = new Set(before.map((e) => e.id));
          return [...before, ...heard.filter((e) => !known.has(e.id))];
        });
      });
    };
    const end = listenTo(`/api/v1/runs/${encodeURIComponent(runId)}/events`, {
      events: {
        ...Object.fromEntries(types.map((type) => [type, hear])),
        end: () => {
          setState('ended');
          end();
        },
      },
      onOpen: () => setState('live'),
      onLost: () => setState((now) => (now === 'ended' ? now : 'lost')),
    });
    return () => {
      end();
      cancelAnimationFrame(frame);
    };
  }, [runId]);
  useEffect(() => {
    const list = foot.current;
    if (events.length > 0 && isFollowed.current && list) list.scrollTop = list.scrollHeight;
  }, [events]);
  return (
    <section className="box" aria-label="Log">
      {events.length === 0 && (
        <p className="muted">{state === 'ended' ? 'It has no log.' : 'Waiting for the first line …'}</p>
      )}
      <ol
        ref={foot}
        className="log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        tabIndex={0}
        aria-label="Lines of the log"
        onScroll={({ currentTarget: list }) => {
          isFollowed.current = list.scrollHeight - list.scrollTop - list.clientHeight < nearPixels;
        }}
      >
        {events.map((event) => (
          <Line key={event.id} event={event} />
        ))}
      </ol>
      <p className="muted small" role="status">
        {state === 'live' ? 'live' : state === 'ended' ? 'ended' : 'the connection is lost; trying again …'}
      </p>
    </section>
  );
}

function Line({ event }: { event: RunEvent }) {
  const { at, type, text, data } = event;
  const isBad = type === 'failed' || data.ok === false || data.passed === false;
  const more = [
    typeof data.ms === 'number' ? `${(data.ms / 1000).toFixed(1)} s` : '',
    typeof data.seconds === 'number' ? `${data.seconds} s` : '',
    typeof data.inputTokens === 'number' ? `${data.inputTokens} + ${data.outputTokens} tokens` : '',
  ].filter(Boolean);
  return (
    <li className={isBad ? 'bad' : undefined}>
      <time dateTime={at} title={`${at.slice(0, 19).replace('T', ' ')} UTC`} className="muted">
        {new Date(at).toLocaleTimeString()}
      </time>{' '}
      <span className="kind">{type}</span> <bdi className="wrap">{text}</bdi>{' '}
      <span className="muted">{more.join(' · ')}</span>
    </li>
  );
}
