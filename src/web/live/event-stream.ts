/** After a stream that was refused, such as the eleventh of one person, this long until the next try. */
const againMs = 5_000;

interface Hearing {
  events: Record<string, (event: MessageEvent<string>) => void>;
  onOpen?(isFirst: boolean): void;
  onLost?(): void;
  /** It was refused; answers whether to try again. */
  onRefused?(): Promise<boolean>;
}

/**
 * Listens to a stream for as long as the page is looked at: a browser has six connections for all tabs together, so a
 * hidden one gives its own back. What comes in between is not told; whoever listens looks again when it opens anew.
 */
export function listenTo(url: string, { events, onOpen, onLost, onRefused }: Hearing): () => void {
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let opened = 0;
  let isOver = false;
  const close = () => {
    source?.close();
    source = undefined;
    clearTimeout(again);
  };
  const connect = () => {
    close();
    if (isOver || document.hidden) return;
    const made = new EventSource(url);
    source = made;
    for (const [name, hear] of Object.entries(events)) made.addEventListener(name, hear);
    made.onopen = () => onOpen?.(opened++ === 0);
    made.onerror = async () => {
      onLost?.();
      // The browser comes back by itself, unless it was refused.
      if (made.readyState !== EventSource.CLOSED || source !== made) return;
      if ((await onRefused?.()) === false) return;
      if (source === made) again = setTimeout(connect, againMs);
    };
  };
  const onVisible = () => (document.hidden ? close() : source === undefined && connect());
  document.addEventListener('visibilitychange', onVisible);
  connect();
  return () => {
    isOver = true;
    close();
    document.removeEventListener('visibilitychange', onVisible);
  };
}
