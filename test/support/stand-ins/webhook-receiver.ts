import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it expects of a payload
  payload: any;
}

/**
 * Starts a receiver of webhooks that verifies each delivery with `standardwebhooks` once it knows the secret. `answers`
 * decides what it answers; it keeps only what it has accepted.
 */
export async function startReceiver() {
  const receiver = {
    url: '',
    secret: undefined as string | undefined,
    received: [] as Received[],
    /** Requests, with those that it did not accept. */
    attempts: [] as string[],
    answer: (response: ServerResponse, _received: Received): void => void response.writeHead(204).end(),
    close: async () => {},
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { headers } = request;
    const id = String(headers['webhook-id']);
    receiver.attempts.push(id);
    try {
      const verified = receiver.secret === undefined ? JSON.parse(body) : verify(receiver.secret, body, headers);
      const received = { id, headers, payload: verified };
      response.on('finish', () => response.statusCode < 300 && receiver.received.push(received));
      receiver.answer(response, received);
    } catch (error) {
      response.writeHead(400).end((error as Error).message);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  receiver.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return receiver;
}

function verify(secret: string, body: string, headers: IncomingHttpHeaders): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}
