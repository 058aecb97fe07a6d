import { useEffect, useRef } from 'react';
import type { RunEvent } from '../../api.ts';
import { exactTime } from '../../display/times.tsx';
import { useRunEvents } from './use-run-events.ts';

/** The log keeps scrolling to new lines while its end is at most this many pixels away. */
const followPixels = 40;

const stateTexts = { live: 'Live', ended: 'Run ended', lost: 'Connection lost. Reconnecting…' };

/** Shows the log of a run, line by line while it runs. */
export function RunLog({ runId }: { runId: string }) {
  const { events, writing, state } = useRunEvents(runId);
  const list = useRef<HTMLOListElement>(null);
  const isFollowing = useRef(true);
  useEffect(() => {
    if ((events.length > 0 || writing !== '') && isFollowing.current && list.current)
      list.current.scrollTop = list.current.scrollHeight;
  }, [events, writing]);
  return (
    <section className="box" aria-label="Log">
      {events.length === 0 && (
        <p className="muted">{state === 'ended' ? 'This run has no log.' : 'Waiting for the first log line…'}</p>
      )}
      <ol
        ref={list}
        className="log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable with the keyboard
        tabIndex={0}
        aria-label="Log lines"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isFollowing.current = scrollHeight - scrollTop - clientHeight < followPixels;
        }}
      >
        {events.map((event) => (
          <LogLine key={event.id} event={event} />
        ))}
        {writing !== '' && (
          <li>
            <span className="kind">writing</span> <bdi className="wrap">{writing}</bdi>
          </li>
        )}
      </ol>
      <p className="muted small" role="status">
        {stateTexts[state]}
      </p>
    </section>
  );
}

function LogLine({ event }: { event: RunEvent }) {
  const { at, type, text, data } = event;
  const isFailure = type === 'failed' || data.ok === false || data.passed === false;
  return (
    <li className={isFailure ? 'failed' : undefined}>
      <time dateTime={at} title={exactTime(at)} className="muted">
        {new Date(at).toLocaleTimeString()}
      </time>{' '}
      <span className="kind">{type}</span> <bdi className="wrap">{text}</bdi>{' '}
      <span className="muted">{figuresOf(data).join(' · ')}</span>
    </li>
  );
}

/** Returns the duration of a step and the tokens it used, as far as the event contains them. */
function figuresOf(data: RunEvent['data']): string[] {
  return [
    typeof data.ms === 'number' ? `${(data.ms / 1000).toFixed(1)} s` : '',
    typeof data.seconds === 'number' ? `${data.seconds} s` : '',
    typeof data.inputTokens === 'number' ? `${data.inputTokens} + ${data.outputTokens} tokens` : '',
    data.cachedInputTokens ? `${data.cachedInputTokens} from the cache` : '',
  ].filter(Boolean);
}
