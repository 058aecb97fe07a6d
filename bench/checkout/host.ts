import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { serveGit } from '../../demo/github/git/git-server.ts';
import { serveLfs } from '../../demo/github/git/lfs-server.ts';

/** Serves the bare repositories `<folder>/<name>.git` as `mona/<name>`, with Git LFS, and counts the bytes that it sends. */
export async function serveCounting(folder: string) {
  const host = {
    find: async (name: string) => join(folder, `${name.split('/')[1]}.git`),
    mayPush: async () => true,
    beforeAdvertising: async () => {},
    push: (_name: string, _token: string, receive: () => Promise<Buffer>) => receive(),
  };
  const sockets = new Set<Socket>();
  let closed = 0;
  const server = createServer(async (req, res) => {
    if (!(await serveLfs(host, req, res)) && !(await serveGit(host, req, res))) res.writeHead(404).end();
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      closed += socket.bytesWritten;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, closed),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
