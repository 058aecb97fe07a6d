import { connect, createServer } from 'node:net';

// The way out of a sandbox: a port on its loopback device that leads to the socket of the egress proxy. Called with the
// path of the socket and the port; prints a line when it listens.

/** More than the proxy accepts, so that the proxy's limit is the one that counts. */
const maxConnections = 256;

const [path, port] = process.argv.slice(2);

const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const proxy = connect({ path, allowHalfOpen: true });
  for (const [from, to] of [
    [client, proxy],
    [proxy, client],
  ]) {
    from.on('error', () => {});
    from.pipe(to);
    // After an error nothing ends the other side. What was already received is still delivered.
    from.once('close', () => to.destroySoon());
  }
});
server.maxConnections = maxConnections;
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
