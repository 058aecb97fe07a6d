import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import * as tls from 'node:tls';
import { type EgressOptions, type EgressSettings, egressDoor } from '../../src/egress/egress.ts';
import { noProxies } from '../../src/host/proxies.ts';

/** What the name server answers. Loopback is open in these tests, all other reserved addresses are closed. */
const names: Record<string, string[]> = {
  'allowed.example.org': ['127.0.0.1'],
  'second.example.org': ['127.0.0.1'],
  'a.wild.example.org': ['127.0.0.1'],
  'b.wild.example.org': ['127.0.0.1'],
  'private.example.org': ['10.0.0.1'],
  'metadata.example.org': ['169.254.169.254'],
  'mixed.example.org': ['127.0.0.1', '10.0.0.1'],
  'mapped.example.org': ['::ffff:127.0.0.1'],
  'unique.example.org': ['fd00::1'],
  'empty.example.org': [],
};

const allowed = [...Object.keys(names).filter((name) => !name.includes('wild')), '*.wild.example.org'];

const settings: EgressSettings = {
  EGRESS: 'on',
  EGRESS_DEFAULT_HOSTS: [],
  EGRESS_OPEN_ADDRESSES: ['127.0.0.0/8'],
  ALLOW_PRIVATE_HOSTS: false,
  proxies: noProxies,
};

const key = Buffer.alloc(32, 7);
/** TLS without certificates. */
const psk = { ciphers: 'PSK', maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' } as const;

export interface Proxied {
  socket: string;
  egress: Awaited<ReturnType<ReturnType<typeof egressDoor>['open']>>;
  /** Connections that the proxy opened, as `host:port`. */
  dialled: string[];
  /** Open connections of the proxy to the host. */
  connections: Set<Socket>;
  /** Bytes that arrived at the host, on either port. */
  received(): string;
  lookedUp: string[];
  /** Sends bytes to the proxy, in pieces if there are several, and returns what comes back until the proxy hangs up. */
  say(...pieces: (string | Buffer)[]): Promise<string>;
  /** Says something that must be refused: expects that nothing of it reached the host, and returns the reply. */
  attack(...pieces: (string | Buffer)[]): Promise<string>;
  close(): Promise<void>;
}

type Given = Partial<EgressOptions> & {
  settings?: Partial<EgressSettings>;
  /** How the host answers on port 80. */
  answer?: RequestListener;
  /** What the name server answers to the first, second, … question. */
  answers?: Record<string, string[][]>;
};

/** Opens a proxy in front of a host that records what reaches it. Port 443 speaks TLS, port 80 HTTP. */
export async function openProxied(given: Given = {}): Promise<Proxied> {
  const folder = await mkdtemp(join(tmpdir(), 'egress-'));
  const chunks: Buffer[] = [];
  const http = createHttpServer(given.answer ?? ((req, res) => res.end(`${req.method} ${req.url} from the host`)));
  const secure = tls.createServer({ ...psk, pskCallback: () => key }, (socket) => {
    socket.on('error', () => {}).pipe(socket);
  });
  const [plain, tunnelled] = await Promise.all([recorded(http, chunks), recorded(secure, chunks)]);
  const dialled: string[] = [];
  const connections = new Set<Socket>();
  const lookedUp: string[] = [];
  const door = egressDoor(
    { ...settings, ...given.settings },
    {},
    {
      lookUp: async (host) => {
        lookedUp.push(host);
        const found = given.answers?.[host]?.shift() ?? names[host];
        if (found === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
        return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      },
      connect: (options) => {
        dialled.push(`${options.host}:${options.port}`);
        const socket = connect({ ...options, port: (options.port === 443 ? tunnelled : plain).port });
        connections.add(socket.once('close', () => connections.delete(socket)));
        return socket;
      },
    },
  );
  const close = async () => {
    for (const origin of [plain, tunnelled]) origin.close();
    await rm(folder, { recursive: true });
  };
  const hosts = [...allowed, ...Object.keys(given.answers ?? {})];
  const { signal } = new AbortController();
  const egress = await door.open({ folder, hosts, list: 'agent', signal, ...given }).catch(async (error) => {
    await close();
    throw error;
  });
  const received = () => Buffer.concat(chunks).toString('latin1');
  return {
    socket: egress.socket,
    egress,
    dialled,
    connections,
    lookedUp,
    received,
    say: (...pieces) => say(egress.socket, pieces),
    attack: async (...pieces) => {
      const before = [received(), dialled.length];
      const reply = await say(egress.socket, pieces);
      expect([received(), dialled.length]).toEqual(before);
      return reply;
    },
    close: async () => {
      await egress.close();
      await close();
    },
  };
}

/** Call it once in a test file: returns `openProxied`, whose proxies are closed after each test. */
export function closingProxied(): typeof openProxied {
  const closing: Proxied[] = [];
  afterEach(async () => {
    for (const proxied of closing.splice(0)) await proxied.close();
  });
  return async (given) => {
    const proxied = await openProxied(given);
    closing.push(proxied);
    return proxied;
  };
}

/** Starts a server, and a listener in front of it that records what arrives. */
async function recorded(server: Server, chunks: Buffer[]) {
  const sockets = new Set<Socket>();
  const front = createServer({ allowHalfOpen: true }, (socket) => {
    const { port } = server.address() as AddressInfo;
    const inner = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('data', (chunk) => chunks.push(chunk));
    pipeline(socket, inner, socket, () => {});
    for (const each of [socket, inner]) sockets.add(each);
  });
  for (const each of [server, front]) await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const each of [server, front]) each.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (front.address() as AddressInfo).port, close };
}

async function say(path: string, pieces: (string | Buffer)[]): Promise<string> {
  const client = connect({ path });
  const heard: Buffer[] = [];
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
  client.on('error', () => {}).on('data', (chunk) => heard.push(chunk));
  await Promise.race([closed, new Promise<void>((resolve) => client.once('connect', resolve))]);
  for (const piece of pieces) {
    if (client.destroyed) break;
    await new Promise<void>((resolve) => client.write(piece, () => setImmediate(resolve)));
  }
  await closed;
  return Buffer.concat(heard).toString('latin1');
}

/** Opens a TLS connection through the proxy, sends a text, and returns what the host sends back. */
export async function throughTunnel(path: string, host: string, text: string): Promise<string> {
  const client = connect({ path });
  client.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const reply = await new Promise<string>((resolve) => client.once('data', (chunk) => resolve(chunk.toString())));
  if (!reply.startsWith('HTTP/1.1 200')) throw new Error(reply);
  const secure = tls.connect({
    ...psk,
    socket: client,
    servername: host.toLowerCase(),
    pskCallback: () => ({ psk: key, identity: 'test' }),
    checkServerIdentity: () => undefined,
  });
  const heard: Buffer[] = [];
  secure.end(text);
  for await (const chunk of secure) heard.push(chunk as Buffer);
  return Buffer.concat(heard).toString();
}
