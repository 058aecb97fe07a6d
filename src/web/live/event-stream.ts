/** How long to wait before reconnecting to a stream that the service refused: longer each time, up to the second value. */
const [retryMs, maxRetryMs] = [5_000, 40_000];
/** How long the service may take to say why it refuses a stream. */
const reasonMs = 10_000;

/** With `heartbeat`, the service sends an event at this interval in s. */
const heartbeatSeconds = 15;
/** A stream on which nothing has arrived for this long is dead, although the browser believes that it is open. */
export const silenceMs = 40_000;

export interface StreamHandlers {
  events: Record<string, (event: MessageEvent<string>) => void>;
  onOpen?(isFirst: boolean): void;
  onLost?(): void;
  /**
   * Called with the reason when the service refuses the stream, for example because the person has too many open. Returning
   * false stops reconnecting.
   */
  onRefused?(reason: string): Promise<boolean>;
}

/** What a stream says to every window that follows it. */
type Said =
  | { kind: 'open' | 'lost' }
  | { kind: 'refused'; reason: string }
  | { kind: 'event'; name: string; data: string };

/** Between the windows: what the stream says, the question of a new window whether it is open, and the answer. */
type Message = Said | { kind: 'hello'; from: string } | { kind: 'welcome'; to: string };

/**
 * Subscribes to an event stream while the page is visible and returns a function that unsubscribes. A browser allows
 * six connections for all tabs together, so a hidden tab closes its stream. Missed events are not sent again:
 * subscribers reload their data when the stream reopens.
 *
 * With `isShared`, the windows of a browser use one stream together, because the service limits the streams of a person. The
 * stream must not begin with a history, which a window that joins later would miss.
 *
 * With `silenceMs`, the stream must be one that can have heartbeats. It counts as lost, and is opened again, when nothing has
 * arrived for so long: the service hangs, or the network has dropped the connection without a word.
 */
export function subscribe(
  url: string,
  handlers: StreamHandlers,
  { isShared = false, silenceMs }: { isShared?: boolean; silenceMs?: number | undefined } = {},
): () => void {
  const { events, onOpen, onLost, onRefused } = handlers;
  let openCount = 0;
  /** Returns false to stop reconnecting. */
  const hear = async (said: Said): Promise<boolean> => {
    if (said.kind === 'event') events[said.name]?.(new MessageEvent(said.name, { data: said.data }));
    else if (said.kind === 'open') onOpen?.(openCount++ === 0);
    else onLost?.();
    return said.kind !== 'refused' || (await onRefused?.(said.reason)) !== false;
  };
  const follow = isShared && canShare() ? followTogether : followAlone;
  let close: (() => void) | undefined;
  const connect = () => {
    close?.();
    close = document.hidden ? undefined : follow({ url, names: Object.keys(events), silenceMs }, hear);
  };
  const onVisibilityChange = () => {
    if (document.hidden === (close === undefined)) return;
    connect();
  };
  document.addEventListener('visibilitychange', onVisibilityChange);
  // After a change of network, the old connection may look open for minutes although nothing arrives any more.
  window.addEventListener('online', connect);
  connect();
  return () => {
    close?.();
    document.removeEventListener('visibilitychange', onVisibilityChange);
    window.removeEventListener('online', connect);
  };
}

type Hear = (said: Said) => Promise<boolean>;

interface Followed {
  url: string;
  /** The names of its events. */
  names: string[];
  silenceMs: number | undefined;
}

/** Follows a stream with a connection of its own until the returned function is called. */
function followAlone({ url, names, silenceMs }: Followed, hear: Hear): () => void {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let waitMs = retryMs;
  const reconnect = () => {
    void hear({ kind: 'lost' });
    source?.close();
    connect();
  };
  const noteSign = () => {
    clearTimeout(silence);
    if (silenceMs !== undefined) silence = setTimeout(reconnect, silenceMs);
  };
  const connect = () => {
    const opened = new EventSource(silenceMs === undefined ? url : `${url}?heartbeat=${heartbeatSeconds}`);
    source = opened;
    noteSign();
    opened.addEventListener('heartbeat', noteSign);
    for (const name of names)
      opened.addEventListener(name, ({ data }: MessageEvent<string>) => {
        noteSign();
        void hear({ kind: 'event', name, data });
      });
    opened.onopen = () => {
      waitMs = retryMs;
      noteSign();
      void hear({ kind: 'open' });
    };
    opened.onerror = async () => {
      void hear({ kind: 'lost' });
      // The browser reconnects unless the service refused the stream.
      if (opened.readyState !== EventSource.CLOSED) return noteSign();
      clearTimeout(silence);
      const reason = await reasonOf(url);
      if (source !== opened || !(await hear({ kind: 'refused', reason })) || source !== opened) return;
      retry = setTimeout(connect, waitMs);
      waitMs = Math.min(2 * waitMs, maxRetryMs);
    };
  };
  connect();
  return () => {
    source?.close();
    source = undefined;
    clearTimeout(retry);
    clearTimeout(silence);
  };
}

/** Asks why the service refuses a stream, which an `EventSource` does not say. Returns an empty text if it does not any more. */
async function reasonOf(url: string): Promise<string> {
  const asking = new AbortController();
  const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(reasonMs)]);
  try {
    const reply = await fetch(url, { headers: { Accept: 'text/event-stream' }, signal });
    return reply.ok ? '' : String(Object(await reply.json()).message ?? '');
  } catch {
    return '';
  } finally {
    asking.abort();
  }
}

/** Locks exist only on pages that were loaded over https or from localhost. */
const canShare = () => window.isSecureContext && 'locks' in navigator && 'BroadcastChannel' in window;

/**
 * Follows a stream together with the other windows: the one that holds the lock has the connection and tells the others what
 * it hears. When it leaves, another one opens the stream again, so that all of them reload their data.
 */
function followTogether(followed: Followed, hear: Hear): () => void {
  const place = `deckhand-stream ${followed.url}`;
  const me = Math.random().toString(36);
  const channel = new BroadcastChannel(place);
  const left = new AbortController();
  let isOpen = false;
  const send = (message: Message) => {
    if (!left.signal.aborted) channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'hello') return void (isOpen && send({ kind: 'welcome', to: data.from }));
    if (data.kind !== 'welcome') void hear(data);
    else if (data.to === me) void hear({ kind: 'open' });
  };
  const lead = () => {
    if (left.signal.aborted) return;
    const close = followAlone(followed, (said) => {
      if (said.kind !== 'event') isOpen = said.kind === 'open';
      send(said);
      return hear(said);
    });
    return new Promise<void>((resolve) => {
      left.signal.addEventListener('abort', () => {
        close();
        resolve();
      });
    });
  };
  // Rejects when this window leaves before it gets the lock.
  navigator.locks.request(place, { signal: left.signal }, lead).catch(() => {});
  send({ kind: 'hello', from: me });
  return () => {
    left.abort();
    channel.close();
  };
}
