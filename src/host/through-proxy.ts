import { Agent as HttpAgent, type RequestOptions, request } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { basicOf, type NextHop } from './proxies.ts';

/** A company's proxy could not be used. The message names the setting, and neither its value nor the credentials. */
export class ProxyFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProxyFailed';
  }
}

/** Returns the error for a status with which a proxy refused to connect to a host. */
export function refusedByProxy(proxy: NextHop, status: number, target: string): ProxyFailed {
  const { setting } = proxy;
  if (status === 407)
    return new ProxyFailed(
      basicOf(proxy) === undefined
        ? `the service's proxy (${setting}) requires a user and a password (HTTP 407); add them to ${setting}, as in http://user:password@host:port`
        : `the service's proxy (${setting}) refused the user and the password (HTTP 407); correct them in ${setting}`,
    );
  if (status >= 500)
    return new ProxyFailed(
      `the service's proxy (${setting}) could not connect to ${target} (HTTP ${status}); check the address, or add the host to NO_PROXY`,
    );
  return new ProxyFailed(
    `the service's proxy (${setting}) refused to connect to ${target} (HTTP ${status}); allow the host there, or add it to NO_PROXY`,
  );
}

/** Returns the error for a proxy with which no exchange was possible. */
export function unreachableProxy({ setting }: NextHop, why: string): ProxyFailed {
  return new ProxyFailed(
    `the service's proxy (${setting}) could not be reached (${why}); check ${setting}, and whether the proxy is up`,
  );
}

/** Returns a request's error, as a ProxyFailed if it is about the proxy and not about the host behind it. */
export function explained(
  error: NodeJS.ErrnoException & { statusCode?: number },
  proxy: NextHop,
  target: string,
): Error {
  const { code = '', syscall = '', statusCode } = error;
  if (code === 'ERR_PROXY_TUNNEL')
    return statusCode === undefined || Number.isNaN(statusCode)
      ? unreachableProxy(proxy, 'it did not answer as a proxy does')
      : refusedByProxy(proxy, statusCode, target);
  return ['connect', 'getaddrinfo'].includes(syscall) ? unreachableProxy(proxy, code) : error;
}

/** How long a proxy may take to open a tunnel, and for how long an idle connection is kept. */
const patienceMs = 30_000;

interface Agents {
  'http:': HttpAgent;
  'https:': HttpsAgent;
}

const agents = new Map<string, Agents>();

/** Returns the agent of Node's `http` or `https` whose requests go through a proxy. */
export function agentThrough({ href }: NextHop, protocol: string): HttpAgent {
  let made = agents.get(href);
  if (made === undefined) {
    const options = { keepAlive: true, timeout: patienceMs, proxyEnv: { http_proxy: href, https_proxy: href } };
    made = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) };
    agents.set(href, made);
  }
  return protocol === 'https:' ? made['https:'] : made['http:'];
}

/** Opens a connection to an address. Tests replace it. */
type Connect = (options: net.TcpNetConnectOpts) => net.Socket;

/** Connects to a proxy, through TLS if its address begins with https. */
export function connectTo({ href }: NextHop, connect: Connect = net.connect): net.Socket {
  const { protocol, hostname, port } = new URL(href);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isSecure = protocol === 'https:';
  const socket = connect({
    host,
    port: Number(port || (isSecure ? 443 : 80)),
    autoSelectFamily: true,
    allowHalfOpen: true,
    noDelay: true,
  });
  if (!isSecure) return socket;
  const secure = tls.connect({
    socket,
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
  });
  socket.once('error', (error) => secure.destroy(error));
  return secure;
}

/** Returns the options of a request for an `http:` URL that is sent to a proxy over `connectTo`. */
export function requestThrough(proxy: NextHop, url: string): RequestOptions {
  const { hostname, port, protocol } = new URL(proxy.href);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port || (protocol === 'https:' ? 443 : 80), path: url };
}

/** Returns the header with the credentials of a proxy, if it has some. */
export function authorizationFor(proxy: NextHop): Record<string, string> {
  const authorization = basicOf(proxy);
  return authorization === undefined ? {} : { 'proxy-authorization': authorization };
}

/**
 * Opens a tunnel to a host with `CONNECT`. The signal ends the attempt.
 * @throws ProxyFailed
 */
export function tunnelThrough(
  proxy: NextHop,
  { host, port }: { host: string; port: number },
  { signal, connect }: { signal: AbortSignal; connect?: Connect },
): Promise<net.Socket> {
  const target = `${host}:${port}`;
  return new Promise((resolve, reject) => {
    const socket = connectTo(proxy, connect);
    const sent = request({
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...authorizationFor(proxy) },
      createConnection: () => socket,
    });
    const stop = () => sent.destroy(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const done = () => signal.removeEventListener('abort', stop);
    sent.once('connect', ({ statusCode = 0 }, tunnel, head) => {
      done();
      if (statusCode !== 200) {
        tunnel.destroy();
        return reject(refusedByProxy(proxy, statusCode, target));
      }
      if (head.length > 0) tunnel.unshift(head);
      resolve(tunnel as net.Socket);
    });
    sent.once('response', (answer) => {
      answer.destroy();
      reject(refusedByProxy(proxy, answer.statusCode ?? 0, target));
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      done();
      socket.destroy();
      reject(signal.aborted ? signal.reason : unreachableProxy(proxy, error.code ?? 'connection lost'));
    });
    sent.end();
  });
}

/** What TLS says of a certificate whose authority is not known. */
const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export function hasUnknownAuthority(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && unknownAuthority.has(error.code);
}

/** Completes a sentence about a host whose certificate is not trusted. */
export const whichCertificates =
  'its certificate is from an unknown authority; set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority, such as that of a proxy that opens TLS';

/**
 * Returns why a server could not be reached, to follow "could not be reached" in parentheses: an explanation if the
 * proxy or certificates are the reason, otherwise the code of the system, such as ECONNREFUSED.
 */
export function whyUnreachable(error: unknown): string {
  let each = error;
  let code: string | undefined;
  for (let depth = 0; each instanceof Error && depth < 5; depth++) {
    if (each instanceof ProxyFailed) return each.message;
    if (hasUnknownAuthority(each)) return whichCertificates;
    if ('code' in each && typeof each.code === 'string') code ??= each.code;
    each = each.cause;
  }
  return code ?? words(error);
}

/** A message that only names a wrapper, as those of clients and of `fetch`, says less than the name of the error. */
function words(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return error.cause === undefined ? error.message : error.name;
}
