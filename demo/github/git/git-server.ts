import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { runInSmallProcess } from './small-process.ts';

/** The callbacks of the git server. Callers authenticate as with git: any user name, and a GitHub token as password. */
export interface GitHost {
  /** Returns the bare repository of `owner/name`, or undefined when the token may not use this service on it. */
  find(name: string, token: string | undefined, service: Service): Promise<string | undefined>;
  /** Called before refs are listed, so that merges through the API are included. */
  beforeAdvertising(name: string): Promise<void>;
  /** Calls `receive`, which moves the refs, and handles the push. Errors are shown to the pusher and undo nothing. */
  push(name: string, token: string, receive: () => Promise<Buffer>): Promise<Buffer>;
}

export type Service = 'git-upload-pack' | 'git-receive-pack';

const route = /^\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

/** Handles requests of git's smart HTTP protocol (gitprotocol-http); returns false for every other request. */
export async function serveGit(host: GitHost, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  const url = new URL(req.url ?? '/', 'http://git');
  const match = route.exec(url.pathname);
  const name = match?.[1];
  if (name === undefined) return false;
  const isAdvertising = match?.[2] === 'info/refs';
  const service = (isAdvertising ? url.searchParams.get('service') : match?.[2]) as Service;
  const token = tokenOf(req);
  const folder = await host.find(name, token, service);
  if (folder === undefined) {
    const status = token === undefined ? 401 : 404;
    res.writeHead(status, status === 401 ? { 'WWW-Authenticate': 'Basic realm="git"' } : {}).end('not found');
    return true;
  }
  if (isAdvertising) await host.beforeAdvertising(name);
  // Git is started when the request is complete, so a caller that disconnects leaves no process behind.
  const body = await buffer(req);
  const run = () => runGit(service, folder, isAdvertising, req, body);
  const isPush = !isAdvertising && service === 'git-receive-pack';
  const output = isPush ? await host.push(name, token ?? '', run) : await run();
  res.setHeader('Cache-Control', 'no-cache');
  res.setHeader('Content-Type', `application/x-${service}-${isAdvertising ? 'advertisement' : 'result'}`);
  if (isAdvertising) {
    const line = `# service=${service}\n`;
    res.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`);
  }
  res.end(output);
  return true;
}

/** Runs git for one request and returns its output. */
async function runGit(
  service: Service,
  folder: string,
  isAdvertising: boolean,
  req: IncomingMessage,
  body: Buffer,
): Promise<Buffer> {
  const input = req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  const args = [service.slice(4), '--stateless-rpc', ...(isAdvertising ? ['--advertise-refs'] : []), folder];
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    GIT_PROTOCOL: String(req.headers['git-protocol'] ?? ''),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  };
  return (await runInSmallProcess('git', args, { env }, input)).output;
}

/** Returns the password of a request, which is a GitHub token. */
export function tokenOf(req: IncomingMessage): string | undefined {
  const basic = /^Basic (.+)$/.exec(req.headers.authorization ?? '')?.[1];
  return basic === undefined ? undefined : Buffer.from(basic, 'base64').toString('utf8').split(':').slice(1).join(':');
}
