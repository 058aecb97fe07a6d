import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Starts a proxy between GitHub and the service. It drops a tenth of the deliveries at the first attempt and sends a
 * fifth of them twice at the same time. Redeliveries are never dropped.
 */
export async function startCourier(target: string, next: () => number) {
  const seen = new Set<string>();
  const counts = { sent: 0, lost: 0, doubled: 0, refused: {} as Record<number, number> };
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const guid = String(req.headers['x-github-delivery']);
    const isFirst = !seen.has(guid);
    seen.add(guid);
    if (isFirst && next() < 0.1) {
      counts.lost++;
      res.writeHead(502).end();
      return;
    }
    const isDoubled = isFirst && next() < 0.2;
    const headers = Object.fromEntries(
      ['content-type', 'x-github-event', 'x-github-delivery', 'x-hub-signature-256'].map((name) => [
        name,
        String(req.headers[name]),
      ]),
    );
    const post = () =>
      fetch(target, { method: 'POST', headers, body: Buffer.concat(chunks) }).then(
        (answer) => answer.arrayBuffer().then(() => answer.status),
        () => 0,
      );
    const [status = 0] = await Promise.all(isDoubled ? [post(), post()] : [post()]);
    counts.sent++;
    if (isDoubled) counts.doubled++;
    if (status !== 202) counts.refused[status] = (counts.refused[status] ?? 0) + 1;
    res.writeHead(status || 502).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    counts,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
