import { connect, type Socket } from 'node:net';

/** A connection that sends exactly what it is told to, and may stop half-way. */
export interface RawConnection {
  socket: Socket;
  /** The status of the first answer; 0 when the connection ends without one. */
  status: Promise<number>;
  /** All that was heard, once the other side has ended the connection. */
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
    // What is sent to a connection that is gone is an error here, and the expected end there.
    socket.on('error', () => {});
    socket.once('close', () => {
      answered(0);
      resolve(heard);
    });
  });
  socket.write(text);
  return { socket, status, ended };
}

/** The head of a request, up to the blank line before its body. */
export function headOf(line: string, headers: Record<string, string>): string {
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
