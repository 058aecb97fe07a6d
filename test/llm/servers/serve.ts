import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Fields = Record<string, unknown>;

/** A request as a server sees it. */
export interface Received {
  /** The path below the base URL, such as `/chat/completions`. */
  path: string;
  body: Fields;
  headers: Record<string, string | string[] | undefined>;
}

/** What a server answers: JSON, or the events of a stream. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  /** Values that are sent as JSON; text is sent as it is, for comments and `[DONE]`. */
  events?: (object | string)[];
  /** What happens after the events instead of an end: the connection breaks, or nothing more. */
  ending?: 'break' | 'silence';
  /** No byte is ever sent. */
  isHeld?: boolean;
}

export type Server = (received: Received) => Answer;

/** Thrown by the rules of a server: the request breaks one of them. */
export class Refused extends Error {
  readonly answer: Answer;

  constructor(status: number, json: unknown) {
    super(JSON.stringify(json));
    this.name = 'Refused';
    this.answer = { status, json };
  }
}

export interface Served {
  url: string;
  received: Received[];
  close(): Promise<void>;
}

/** Serves one of the strict servers on a free port. */
export async function serve(answer: Server): Promise<Served> {
  const received: Received[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const path = (req.url ?? '').replace(/^\/v1/, '');
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Fields;
    received.push({ path, body, headers: req.headers });
    send(res, answered(answer, { path, body, headers: req.headers }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answered(answer: Server, received: Received): Answer {
  try {
    return answer(received);
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    return { status: 500, json: { error: { message: `the fake broke: ${(error as Error).stack}` } } };
  }
}

function send(res: ServerResponse, { status = 200, headers = {}, json, events, ending, isHeld }: Answer): void {
  if (isHeld) return;
  const type = events === undefined ? 'application/json' : 'text/event-stream';
  res.writeHead(status, { 'Content-Type': type, ...headers });
  if (events === undefined) return void res.end(typeof json === 'string' ? json : JSON.stringify(json));
  for (const event of events) res.write(textOf(event));
  if (ending === undefined) res.end();
  // The bytes before the break have to arrive.
  if (ending === 'break') res.write(':\n\n', () => setImmediate(() => res.destroy()));
}

/** The bytes of a stream. */
export function textOf(event: object | string): string {
  return typeof event === 'string' ? `${event}\n\n` : eventText(event);
}

function eventText(event: object): string {
  const { type } = event as { type?: unknown };
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
}
