/** How long to wait before reconnecting to a stream that the service refused. */
const retryMs = 5_000;

interface StreamHandlers {
  events: Record<string, (event: MessageEvent<string>) => void>;
  onOpen?(isFirst: boolean): void;
  onLost?(): void;
  /**
   * Called when the service refuses the stream, for example because the person has too many open. Returning false stops
   * reconnecting.
   */
  onRefused?(): Promise<boolean>;
}

/**
 * Subscribes to an event stream while the page is visible and returns a function that unsubscribes. A browser allows
 * six connections for all tabs together, so a hidden tab closes its stream. Missed events are not sent again:
 * subscribers reload their data when the stream reopens.
 */
export function subscribe(url: string, { events, onOpen, onLost, onRefused }: StreamHandlers): () => void {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let openCount = 0;
  let isUnsubscribed = false;
  const close = () => {
    source?.close();
    source = undefined;
    clearTimeout(retry);
  };
  const connect = () => {
    close();
    if (isUnsubscribed || document.hidden) return;
    const opened = new EventSource(url);
    source = opened;
    for (const [name, handle] of Object.entries(events)) opened.addEventListener(name, handle);
    opened.onopen = () => onOpen?.(openCount++ === 0);
    opened.onerror = async () => {
      onLost?.();
      // The browser reconnects unless the service refused the stream.
      if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
      if ((await onRefused?.()) === false) return;
      if (source === opened) retry = setTimeout(connect, retryMs);
    };
  };
  const onVisibilityChange = () => (document.hidden ? close() : source === undefined && connect());
  document.addEventListener('visibilitychange', onVisibilityChange);
  // After a change of network, the old connection may look open for minutes although nothing arrives any more.
  window.addEventListener('online', connect);
  connect();
  return () => {
    isUnsubscribed = true;
    close();
    document.removeEventListener('visibilitychange', onVisibilityChange);
    window.removeEventListener('online', connect);
  };
}
