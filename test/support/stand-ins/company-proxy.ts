import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import * as tls from 'node:tls';

/** An authority that no system knows, and a certificate of it for some names. */
export interface Authority {
  /** The file with the authority's certificate. */
  file: string;
  pem: string;
  key: string;
  cert: string;
  remove(): void;
}

/** Makes an authority with OpenSSL; undefined, with the reason on the console, on machines without it. */
export function makeAuthority(names: string[]): Authority | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'company-'));
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe', env: { PATH: process.env.PATH ?? '' } });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const alternatives = names.map((name) => `${/^[\d.]+$/.test(name) ? 'IP' : 'DNS'}:${name}`).join(',');
  try {
    openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Company authority');
    openssl(
      ...['req', '-x509', '-CA', 'ca.pem', '-CAkey', 'ca.key', ...key, '-keyout', 'host.key', '-out', 'host.pem'],
      ...['-subj', '/CN=host', '-addext', `subjectAltName=${alternatives}`, '-addext', 'basicConstraints=CA:FALSE'],
    );
  } catch (error) {
    if (process.env.CI) throw error;
    console.warn(`skipped: openssl cannot make certificates here (${(error as Error).message})`);
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return {
    file: join(folder, 'ca.pem'),
    pem: read('ca.pem'),
    key: read('host.key'),
    cert: read('host.pem'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

export interface CompanyProxy {
  /** Its address without credentials, and with those that it demands. */
  url: string;
  withCredentials: string;
  port: number;
  /** What was asked of it: `CONNECT host:port` or `GET http://host/path`. Refused requests begin with their status. */
  seen: string[];
  /** The ports of this machine that stand for hosts. Those on port 443 speak TLS with the authority's certificate. */
  hosts: Map<string, number>;
  /** Hosts that it refuses with 403. */
  refused: Set<string>;
  close(): Promise<void>;
}

/** What is known while it runs. */
type State = Pick<CompanyProxy, 'seen' | 'hosts' | 'refused'> & {
  sockets: Set<Socket>;
  /** The `Proxy-Authorization` header that is demanded. */
  expected: string | undefined;
};

/** Notes what is asked for, and returns the status of a refusal. */
function refusal({ seen, hosts, refused, expected }: State, req: IncomingMessage, host: string): number | undefined {
  const isKnown = expected === undefined || req.headers['proxy-authorization'] === expected;
  const status = !isKnown ? 407 : refused.has(host) ? 403 : hosts.has(host) ? undefined : 502;
  seen.push(`${status === undefined ? '' : `${status} `}${req.method} ${req.url}`);
  return status;
}

function keep({ sockets }: State, socket: Socket): Socket {
  sockets.add(socket.setMaxListeners(0));
  return socket.on('error', () => {}).once('close', () => sockets.delete(socket));
}

function openTunnel(state: State, securePort: number, req: IncomingMessage, client: Socket, head: Buffer): void {
  const [host = '', port = ''] = (req.url ?? '').split(':');
  const status = refusal(state, req, host);
  if (status !== undefined)
    return void client.end(`HTTP/1.1 ${status} No\r\nProxy-Authenticate: Basic realm="company"\r\n\r\n`);
  const inner = keep(state, connect(port === '443' ? securePort : (state.hosts.get(host) ?? 0), '127.0.0.1'));
  inner.once('connect', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) inner.write(head);
    pipeline(client, inner, client, () => {});
  });
}

function forward(state: State, req: IncomingMessage, res: ServerResponse): void {
  const { hostname, pathname, search } = new URL(req.url ?? '', 'http://none.invalid');
  const status = refusal(state, req, hostname);
  if (status !== undefined) {
    res.writeHead(status, { 'Proxy-Authenticate': 'Basic realm="company"' }).end('refused by the company');
    return;
  }
  const { 'proxy-authorization': _credentials, ...headers } = req.headers;
  const where = { host: '127.0.0.1', port: state.hosts.get(hostname), path: pathname + search };
  const sent = request({ ...where, method: req.method ?? 'GET', headers });
  sent.once('response', (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
  });
  sent.once('error', () => res.destroy());
  req.pipe(sent);
}

/**
 * Starts a proxy as companies have them. It resolves names that nobody else knows, and can demand credentials. `secure`
 * lets it speak TLS.
 */
export async function startCompanyProxy(
  authority: Authority | undefined,
  { user = '', password = '', secure = false } = {},
): Promise<CompanyProxy> {
  const pair = Buffer.from(`${user}:${password}`).toString('base64');
  const state: State = {
    ...{ seen: [], hosts: new Map(), refused: new Set(), sockets: new Set() },
    expected: user === '' ? undefined : `Basic ${pair}`,
  };
  const { key, cert } = authority ?? {};
  const certificate = key && cert ? { key, cert } : {};
  const server = secure ? createSecureServer(certificate) : createServer();
  // TLS ends here for hosts on port 443.
  const front = tls.createServer(certificate, (socket) => {
    const inner = keep(state, connect(state.hosts.get(socket.servername || '') ?? 0, '127.0.0.1'));
    pipeline(keep(state, socket), inner, socket, () => {});
  });
  front.on('tlsClientError', () => {});
  server.on('connection', (socket) => keep(state, socket)).on('secureConnection', (socket) => keep(state, socket));
  server.on('connect', (req, client: Socket, head) => openTunnel(state, portOf(front), req, client, head));
  server.on('request', (req, res) => forward(state, req, res));
  for (const each of [server, front]) await new Promise<void>((done) => each.listen(0, '127.0.0.1', done));
  const port = portOf(server);
  const [scheme, at] = secure ? ['https', `localhost:${port}`] : ['http', `127.0.0.1:${port}`];
  const { seen, hosts, refused } = state;
  return {
    ...{ port, seen, hosts, refused },
    url: `${scheme}://${at}`,
    withCredentials: `${scheme}://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${at}`,
    close: async () => {
      for (const each of [server, front]) each.close();
      for (const socket of state.sockets) socket.destroy();
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Makes this process trust the authority, as `NODE_EXTRA_CA_CERTS` does when a process starts. Returns what undoes it. */
export function trust({ pem }: Authority): () => void {
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, pem]);
  return () => tls.setDefaultCACertificates(before);
}
