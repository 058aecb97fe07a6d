import { connect, type Socket } from 'node:net';

/** A connection that sends exactly the given bytes, so a test can stop half-way. */
export interface RawConnection {
  socket: Socket;
  /** The status of the first reply, or 0 if the connection ends without one. */
  status: Promise<number>;
  /** Everything that was received, after the other side has closed the connection. */
  ended: Promise<string>;
}

export function openRaw(port: number | string, text: string, from = '127.0.0.1'): RawConnection {
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: from });
  let heard = '';
  let answered = (_status: number) => {};
  const status = new Promise<number>((resolve) => {
    answered = resolve;
  });
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    heard += chunk;
    const [, code] = /^HTTP\/1\.1 (\d+)[\s\S]*\r\n\r\n/.exec(heard) ?? [];
    if (code !== undefined) answered(Number(code));
  });
  const ended = new Promise<string>((resolve) => {
    // Writing to a closed connection is an error, which these tests expect.
    socket.on('error', () => {});
    socket.once('close', () => {
      answered(0);
      resolve(heard);
    });
  });
  socket.write(text);
  return { socket, status, ended };
}

/** Returns the head of a request, up to the blank line before its body. */
export function headOf(line: string, headers: Record<string, string>): string {
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
