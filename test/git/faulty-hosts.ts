import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Starts a proxy that passes on that many bytes of a pack, and then stops sending, disconnects, or sends 40 kB a
 * second.
 */
export async function between(target: string, passed: number, then: 'stall' | 'reset' | 'drip') {
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    const url = new URL(req.url ?? '', target);
    const on = request(url, { method: req.method ?? 'GET', headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      // Only responses with a pack are cut.
      if (!req.url?.endsWith('/git-upload-pack')) return answer.pipe(res);
      if (then === 'drip') return drip(answer, res);
      let sent = 0;
      answer.on('data', (chunk: Buffer) => {
        if (sent < passed) res.write(chunk.subarray(0, passed - sent));
        sent += chunk.length;
        if (sent >= passed && then === 'reset') res.destroy();
      });
    });
    req.pipe(on);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/octocat/sample`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function drip(from: IncomingMessage, to: ServerResponse) {
  for await (const chunk of from)
    for (let at = 0; at < chunk.length && !to.destroyed; at += 4000) {
      to.write(chunk.subarray(at, at + 4000));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  to.end();
}

/** Starts a server that replies with `answer`. */
export async function serve(answer: RequestListener) {
  const server = createServer((req, res) => void req.resume().once('end', () => answer(req, res)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const html = { 'Content-Type': 'text/html' };
/** What a host or a proxy may send instead of git data, with the expected fault and the requested pause in ms. */
export const wrong: Record<string, [(res: ServerResponse) => void, unknown[]]> = {
  page: [(res) => res.writeHead(200, html).end('<html>rejected</html>'), ['not_git']],
  untyped: [(res) => res.end('hello'), ['not_git']],
  unavailable: [(res) => res.writeHead(503, html).end('<p>Authentication failed</p>'), ['unreachable']],
  tooMany: [(res) => res.writeHead(429, { 'Retry-After': '7' }).end(), ['unreachable', 7000]],
  notNow: [(res) => res.writeHead(403, { 'Retry-After': '7' }).end(), ['unreachable', 7000]],
  forbidden: [(res) => res.writeHead(403).end('not found'), ['auth']],
  unknown: [(res) => res.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end(), ['auth']],
  missing: [(res) => res.writeHead(404, html).end('denied'), ['missing']],
  moved: [(res) => res.writeHead(301, { Location: '/elsewhere' }).end(), ['missing']],
  reset: [(res) => res.destroy(), ['unreachable']],
  switched: [(res) => res.socket?.end(switching), ['unreachable']],
};

/** Returns the pids of this process's children. */
export function children(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      } catch {
        return false;
      }
    });
}
