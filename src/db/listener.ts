import pg from 'pg';

export type Hear = (message?: string) => void;

/** Reports changes made by any process, using PostgreSQL's LISTEN. */
export interface Listener {
  /**
   * Calls `hear` whenever something about the topic may have changed, until the returned function is called. A message
   * that was sent with `tell` is passed on.
   */
  on(topic: string, hear: Hear): () => void;
  close(): Promise<void>;
}

const reconnectMs = 500;
const connectMs = 15_000;

/**
 * Opens a listener that uses one connection for all topics of this process. The connection is opened on first use and
 * reopened when it breaks. All listeners are then called, because notifications may have been missed.
 */
export function openListener(url: string): Listener {
  const heard = new Map<string, Set<Hear>>();
  let client: pg.Client | undefined;
  let isClosed = false;
  let again: NodeJS.Timeout | undefined;
  const tellAll = () => {
    for (const hearers of heard.values()) for (const hear of hearers) hear();
  };
  const connect = async () => {
    const made = new pg.Client({
      connectionString: url,
      application_name: 'deckhand-listener',
      // The connection only receives, so without keep-alive it would not notice that the server has vanished.
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
    });
    client = made;
    const lost = () => {
      if (client !== made) return;
      client = undefined;
      made.end().catch(() => {});
      if (!isClosed && heard.size > 0) again = setTimeout(start, reconnectMs).unref();
    };
    made.on('error', lost);
    made.on('end', lost);
    made.on('notification', ({ payload = '' }) => {
      const [topic, message] = split(payload);
      for (const hear of heard.get(topic) ?? []) hear(message);
    });
    try {
      await made.connect();
      await made.query('listen changes');
      tellAll();
    } catch {
      lost();
    }
  };
  const start = () => void connect();
  return {
    on: (topic, hear) => {
      const hearers = heard.get(topic) ?? new Set();
      heard.set(topic, hearers.add(hear));
      if (client === undefined && !isClosed) start();
      return () => {
        hearers.delete(hear);
        if (hearers.size === 0 && heard.get(topic) === hearers) heard.delete(topic);
      };
    },
    close: async () => {
      isClosed = true;
      clearTimeout(again);
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}

/** A notification is a topic, and after a line feed the message if there is one. */
function split(payload: string): [topic: string, message?: string] {
  const at = payload.indexOf('\n');
  return at < 0 ? [payload] : [payload.slice(0, at), payload.slice(at + 1)];
}
