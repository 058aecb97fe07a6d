import { isIP } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { ciphers, countRecords, countTickets } from '../host/strangers.ts';

/** Where to connect to: a checked address, and the host whose certificate is expected there. */
export interface SecureTarget {
  address: string;
  port: number;
  host: string;
}

/** What the main thread sends for a connection. `more` asks for the next data. */
export type ToThread = { data: Uint8Array } | 'more' | 'end';

/** What the thread answers. `written` is about the last data. */
export type FromThread =
  | { data: Uint8Array }
  | { error: { message: string; code: string | undefined } }
  | 'written'
  | 'end'
  | 'closed';

/** Opens a connection with TLS and passes on what it says, one piece at a time. */
function open(port: MessagePort, { address, port: to, host }: SecureTarget): void {
  const say = (message: FromThread) => port.postMessage(message);
  const options: ConnectionOptions & { highWaterMark: number } = {
    ...{ host: address, port: to, ciphers, ...(isIP(host) === 0 ? { servername: host } : {}) },
    // A server may send one byte in each record. Node's usual 64 kB of them would take 15 MB.
    highWaterMark: 1024,
  };
  const socket = connect(options);
  const fail = (error: Error) => socket.destroy(error);
  socket.on('session', countTickets(fail));
  socket.on('data', countRecords(fail));
  socket.on('data', (data) => {
    socket.pause();
    say({ data });
  });
  socket.on('end', () => say('end'));
  socket.on('error', ({ message, code }: NodeJS.ErrnoException) => say({ error: { message, code } }));
  socket.on('close', () => {
    say('closed');
    port.close();
  });
  port.on('message', (message: ToThread) => {
    if (message === 'more') socket.resume();
    else if (message === 'end') socket.end();
    else socket.write(message.data, () => say('written'));
  });
  port.on('close', () => socket.destroy());
}

parentPort?.on('message', ({ port, target }: { port: MessagePort; target: SecureTarget }) => open(port, target));
