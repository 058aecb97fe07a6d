import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createTestDatabase } from '../../support/database.ts';
import { startWebProcess } from '../../support/http/web-process.ts';

/** Passes everything on to a database, until it falls silent without closing a connection. */
async function startRelay(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const port = Number(target.port);
  const sockets: Socket[] = [];
  let isSilent = false;
  const server = createServer((client) => {
    sockets.push(client.on('error', () => {}));
    if (isSilent) return;
    const upstream = connect(port, target.hostname).on('error', () => {});
    sockets.push(upstream);
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    fallSilent: () => {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test.each([
  'web',
  'all',
])('with ROLE=%s, a process whose database has fallen silent ends in time after SIGTERM', async (role) => {
  const database = await createTestDatabase();
  const relay = await startRelay(database.url);
  const web = await startWebProcess({ DATABASE_URL: relay.url, ROLE: role });
  try {
    relay.fallSilent();
    const gone = once(web.service.process, 'exit');
    const begun = performance.now();
    web.service.process.kill('SIGTERM');
    await gone;
    expect(performance.now() - begun).toBeLessThan(40_000);
  } finally {
    relay.close();
    await web.close();
    await database.drop();
  }
});
