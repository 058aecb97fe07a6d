/** A browser with event streams that a test opens, and into which it writes. */
export interface StreamBrowser {
  /** The addresses of the streams that are open or being opened, the oldest first. */
  addresses(): string[];
  /** Opens the newest stream. */
  open(): void;
  /** Sends an event on the newest stream. */
  send(name: string, data: object): void;
  /** Refuses the newest stream. */
  refuse(): void;
  /** Puts back what was there before. */
  restore(): void;
}

type Handler = (event: { data: string }) => void;

/** Replaces the parts of a browser that event streams need. Only on secure pages can windows share a stream. */
export function streamBrowser(isSecure = false): StreamBrowser {
  const streams: Stand[] = [];
  class Stand {
    static readonly CLOSED = 2;
    readyState = 0;
    onopen: () => void = () => {};
    onerror: () => void = () => {};
    handlers = new Map<string, Handler>();
    url: string;
    constructor(url: string) {
      this.url = url;
      streams.push(this);
    }
    addEventListener(name: string, handler: Handler): void {
      this.handlers.set(name, handler);
    }
    close(): void {
      streams.splice(streams.indexOf(this), 1);
    }
  }
  const nothing = { addEventListener: () => {}, removeEventListener: () => {} };
  const given = {
    EventSource: Stand,
    document: { ...nothing, hidden: false },
    window: { ...nothing, isSecureContext: isSecure, BroadcastChannel },
  };
  const before = Object.keys(given).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  Object.assign(globalThis, given);
  return {
    addresses: () => streams.map(({ url }) => url),
    open: () => streams.at(-1)?.onopen(),
    send: (name, data) => streams.at(-1)?.handlers.get(name)?.({ data: JSON.stringify(data) }),
    refuse: () => {
      const stream = streams.at(-1);
      if (stream === undefined) return;
      stream.readyState = Stand.CLOSED;
      stream.onerror();
    },
    restore: () => {
      for (const [name, descriptor] of before) {
        Reflect.deleteProperty(globalThis, name);
        if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor);
      }
    },
  };
}
