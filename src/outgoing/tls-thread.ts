import { isIP } from 'node:net';
import { connect, DEFAULT_CIPHERS } from 'node:tls';
import { type MessagePort, parentPort } from 'node:worker_threads';

/** Where to connect to: a checked address, and the host whose certificate is expected there. */
export interface SecureTarget {
  address: string;
  port: number;
  host: string;
}

/** What the main thread sends for a connection. `more` asks for the next data. */
export type ToThread = { data: Uint8Array } | 'more' | 'end';

/** What it gets. `written` is about the last data. */
export type FromThread =
  | { data: Uint8Array }
  | { error: { message: string; code: string | undefined } }
  | 'written'
  | 'end'
  | 'closed';

/** Without Diffie-Hellman over numbers that the server chooses. Servers have other ciphers. */
const ciphers = `${DEFAULT_CIPHERS}:!kDHE`;
/** The most session tickets of a connection. Servers send up to four, and none of them is a byte of an answer. */
const maxTickets = 50;

/** Opens a connection with TLS and passes on what it says, one piece at a time. */
function open(port: MessagePort, { address, port: to, host }: SecureTarget): void {
  const say = (message: FromThread) => port.postMessage(message);
  const socket = connect({ host: address, port: to, ciphers, ...(isIP(host) === 0 ? { servername: host } : {}) });
  let tickets = 0;
  socket.on('session', () => {
    tickets += 1;
    if (tickets > maxTickets) socket.destroy(new Error('the server sent session tickets without end'));
  });
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
