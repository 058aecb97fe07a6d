import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import type { Denial } from './gate.ts';
import type { Target } from './target.ts';

export type Connect = (options: TcpNetConnectOpts) => Socket;

/** How long one connection may take to open, over all addresses of the host. */
const connectMs = 15_000;

/** Returns a replacement for the look-up of a name that has been resolved and checked. */
export function pinnedTo(addresses: LookupAddress[]): LookupFunction {
  const [first = { address: '', family: 0 }] = addresses;
  return (_host, { all }, done) => (all ? done(null, addresses) : done(null, first.address, first.family));
}

/** Connects to a host for a client at one of its addresses. Tries one after another, as Node does for a name. */
export function dial(
  connect: Connect,
  { host, port }: Target,
  addresses: LookupAddress[],
  client: Socket,
): Promise<Socket | Denial> {
  return new Promise((resolve) => {
    const options = { host, port, lookup: pinnedTo(addresses), autoSelectFamily: true };
    const socket = connect({ ...options, allowHalfOpen: true, noDelay: true });
    // Both directions of a tunnel listen for its end several times.
    socket.setMaxListeners(32);
    const fail = (status: Denial['status'], why: string) => {
      socket.destroy();
      resolve({ status, says: `host ${host} could not be reached (${why})` });
    };
    const timer = setTimeout(() => fail(504, `no connection within ${connectMs / 1000} s`), connectMs);
    const abandon = () => fail(502, 'the client disconnected');
    client.once('close', abandon);
    if (client.destroyed) abandon();
    socket.once('connect', () => resolve(socket));
    socket.on('error', ({ code = 'connection lost' }: NodeJS.ErrnoException) => fail(502, code));
    // Kept while the tunnel is open, so that the socket is destroyed when the client disconnects.
    socket.once('close', () => client.off('close', abandon));
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer));
  });
}
