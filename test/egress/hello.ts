import { Duplex } from 'node:stream';
import * as tls from 'node:tls';

/** Returns the hello of Node's own TLS client. */
export function helloOf(servername?: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read: () => {},
      write: (chunk, _encoding, done) => {
        resolve(chunk);
        done();
      },
    });
    tls.connect({ socket: wire, ...(servername === undefined ? {} : { servername }) }).on('error', () => {});
  });
}

/** Writes a hello with any extensions, in one record. */
export function madeHello(extensions: [type: number, content: Buffer][]): Buffer {
  const written = extensions.flatMap(([type, content]) => [number(type, 2), lengthOf(content, 2), content]);
  const all = Buffer.concat(written);
  const body = Buffer.concat([number(0x0303, 2), Buffer.alloc(32, 1), number(0, 1), number(2, 2), number(0x1301, 2)]);
  const rest = Buffer.concat([number(1, 1), number(0, 1), lengthOf(all, 2), all]);
  const message = Buffer.concat([body, rest]);
  return record(Buffer.concat([number(1, 1), lengthOf(message, 3), message]));
}

export function record(content: Buffer): Buffer {
  return Buffer.concat([number(22, 1), number(0x0301, 2), lengthOf(content, 2), content]);
}

/** The content of the extension `server_name`. */
export function nameList(...hosts: string[]): Buffer {
  const entries = Buffer.concat(
    hosts.map((host) => Buffer.concat([number(0, 1), number(host.length, 2), Buffer.from(host, 'latin1')])),
  );
  return Buffer.concat([lengthOf(entries, 2), entries]);
}

function number(value: number, bytes: number): Buffer {
  const written = Buffer.alloc(bytes);
  written.writeUIntBE(value, 0, bytes);
  return written;
}

const lengthOf = (content: Buffer, bytes: number) => number(content.length, bytes);
