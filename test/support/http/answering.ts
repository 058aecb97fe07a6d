import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Call it once in a test file: returns a function that starts a server for the rest of a test. `noted` is what the
 * server's list `asked` says of each request.
 */
export function answeringServers(noted: (req: IncomingMessage) => string) {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });
  return async (answer: RequestListener) => {
    const asked: string[] = [];
    const server = createServer((req, res) => {
      asked.push(noted(req));
      res.on('error', () => {});
      req.resume().once('end', () => answer(req, res));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    return { port, url: `http://127.0.0.1:${port}`, asked };
  };
}
