import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { type Hello, maxPeekedBytes, readHello } from './client-hello.ts';
import { type Connect, type Denial, dial, type Gate } from './dial.ts';
import type { Target } from './host-names.ts';

/** How long a client may take to read a refusal. */
const goodbyeMs = 2000;

/** A fatal TLS alert, `access_denied`, which clients report better than a closed connection. */
const alert = Buffer.from([21, 3, 3, 0, 2, 2, 49]);

interface Tunnel {
  client: Socket;
  /** What arrived after the request. */
  head: Buffer;
  target: Target;
}

/**
 * Answers `CONNECT` on port 443: connects to the host and passes TLS on, once the client has asked for that host by
 * name. Until then the host receives nothing.
 */
export async function openTunnel(
  { client, head, target }: Tunnel,
  { gate, connect, helloMs }: { gate: Gate; connect: Connect; helloMs: number },
): Promise<void> {
  const verdict = await gate.admit(target);
  if ('says' in verdict) return refuse(client, verdict);
  const upstream = await dial(connect, target, verdict, client);
  if ('says' in upstream) return refuse(client, upstream);
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  const { bytes, problem } = await peek({ client, head, target }, helloMs);
  // Browsers open connections in advance and may not use them.
  if (client.destroyed || upstream.destroyed || bytes.length === 0) return void client.destroy();
  if (problem !== undefined) {
    gate.refuse(target, problem);
    upstream.destroy();
    return part(client, alert);
  }
  gate.reached(target);
  upstream.write(bytes);
  // An error or early end of either side ends both.
  pipeline(client, upstream, () => {});
  pipeline(upstream, client, () => {});
}

/** Replies to a `CONNECT` that is refused. Python and Go show the reason in the first line, but not the body. */
export function refuse(client: Socket, { status, says }: Denial | { status: 400; says: string }): void {
  const reason = /^[\x20-\x7e]*$/.test(says) ? says : STATUS_CODES[status];
  const head = [`HTTP/1.1 ${status} ${reason}`, 'Content-Type: text/plain', `Content-Length: ${says.length + 1}`];
  part(client, [...head, 'Connection: close', '', `${says}\n`].join('\r\n'));
}

/** Sends a final reply and closes the connection. Whatever the client still sends is discarded. */
function part(client: Socket, words: string | Buffer): void {
  client.resume().end(words);
  const timer = setTimeout(() => client.destroy(), goodbyeMs);
  client.once('close', () => clearTimeout(timer));
}

/** Waits for the TLS hello. Returns what has arrived and, unless the hello names the host, the problem. */
function peek(
  { client, head, target }: Tunnel,
  helloMs: number,
): Promise<{ bytes: Buffer; problem?: string | undefined }> {
  return new Promise((resolve) => {
    let bytes = head;
    const done = (problem?: string) => {
      clearTimeout(timer);
      client.off('data', add).off('end', ended).off('close', ended).pause();
      resolve({ bytes, problem });
    };
    const look = () => {
      const hello: Hello = bytes.length > 0 ? readHello(bytes) : undefined;
      if (hello === undefined) return bytes.length > maxPeekedBytes ? done('its TLS hello is too long') : undefined;
      done('problem' in hello ? hello.problem : mismatch(hello.serverName, target.host));
    };
    const add = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      look();
    };
    const ended = () => done('the connection ended before its TLS hello');
    const timer = setTimeout(() => done(`its TLS hello was not complete after ${helloMs / 1000} s`), helloMs);
    client.on('data', add).once('end', ended).once('close', ended);
    look();
  });
}

function mismatch(serverName: string, host: string): string | undefined {
  return serverName === host ? undefined : 'its TLS hello names another server';
}
