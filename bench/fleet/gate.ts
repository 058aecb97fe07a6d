import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../demo/settings.ts';

/** A port that passes connections on: a load balancer before web processes, or the way to GitHub. */
export interface Gate {
  url: string;
  /** Passes new connections on to this port of 127.0.0.1. */
  lead(port: number): void;
  /** Breaks all connections and refuses new ones. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** Opens a gate that refuses connections until `lead` has said where they go. */
export async function openGate(): Promise<Gate> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let target: number | undefined;
  const server = createServer((from) => {
    if (target === undefined) return from.destroy();
    const to = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => other.destroy())
        .on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  });
  const open = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await open();
  return {
    url: `http://127.0.0.1:${port}`,
    lead: (to) => {
      target = to;
    },
    shut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
    open,
  };
}
