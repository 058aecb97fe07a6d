import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type GitHost, tokenOf } from './git-server.ts';

/** The callbacks of the Git LFS server. */
export interface LfsHost extends Pick<GitHost, 'find'> {
  /** Returns whether a token may push to a repository. */
  mayPush(name: string, token: string): Promise<boolean>;
}

const mediaType = 'application/vnd.git-lfs+json';
const route = /^\/([\w.-]+\/[\w.-]+?)\.git\/info\/lfs\/(objects\/batch|objects\/([0-9a-f]{64})(\/verify)?)$/;

interface Asked {
  operation: string;
  hash_algo?: string;
  objects: { oid: string; size: number }[];
}

/** A request for one repository, by somebody who may read it. */
interface Call {
  name: string;
  folder: string;
  token: string | undefined;
  host: LfsHost;
}

/**
 * Handles requests of Git LFS (git-lfs, docs/api/batch.md and docs/api/basic-transfers.md) with the basic transfer adapter;
 * returns false for every other request. Objects are in the bare repository, where git-lfs has them too.
 */
export async function serveLfs(host: LfsHost, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  const match = route.exec(new URL(req.url ?? '/', 'http://git').pathname);
  const [, name, , oid, verify] = match ?? [];
  if (name === undefined) return false;
  const token = tokenOf(req);
  const folder = await host.find(name, token, 'git-upload-pack');
  if (folder === undefined) {
    if (token === undefined) res.setHeader('LFS-Authenticate', 'Basic realm="Git LFS"');
    say(res, token === undefined ? 401 : 404, { message: token === undefined ? 'Credentials needed' : 'Not Found' });
    return true;
  }
  const call = { name, folder, token, host };
  if (oid === undefined) await answerBatch(call, req, res);
  else if (verify !== undefined) await answerVerify(call, oid, req, res);
  else if (req.method === 'PUT') await store(call, oid, req, res);
  else await send(call, oid, res);
  return true;
}

async function answerBatch(call: Call, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await buffer(req);
  if (!req.headers.accept?.startsWith(mediaType)) return say(res, 406, { message: `Accept must be ${mediaType}` });
  const { operation, objects, hash_algo = 'sha256' } = JSON.parse(body.toString('utf8')) as Asked;
  if (hash_algo !== 'sha256') return say(res, 409, { message: 'Only sha256 is supported' });
  if (operation !== 'upload' && operation !== 'download') return say(res, 422, { message: 'Unknown operation' });
  if (operation === 'upload' && !(await mayPush(call)))
    return say(res, call.token === undefined ? 401 : 403, { message: 'You may read, but not write' });
  const { host = '', authorization } = req.headers;
  const header = authorization === undefined ? {} : { Authorization: authorization };
  const answered = objects.map(({ oid, size }) => {
    if (!/^[0-9a-f]{64}$/.test(oid) || !(size >= 0))
      return { oid, size, error: { code: 422, message: 'Validation error' } };
    const href = `http://${host}/${call.name}.git/info/lfs/objects/${oid}`;
    const isHere = existsSync(fileOf(call.folder, oid));
    const action = (more = '') => ({ href: `${href}${more}`, header, expires_in: 3600 });
    if (operation === 'upload')
      return isHere
        ? { oid, size }
        : { oid, size, authenticated: true, actions: { upload: action(), verify: action('/verify') } };
    if (!isHere) return { oid, size, error: { code: 404, message: 'Object does not exist' } };
    return { oid, size, authenticated: true, actions: { download: action() } };
  });
  say(res, 200, { transfer: 'basic', objects: answered, hash_algo });
}

async function store(call: Call, oid: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const content = await buffer(req);
  if (!(await mayPush(call))) return say(res, 403, { message: 'You may read, but not write' });
  if (createHash('sha256').update(content).digest('hex') !== oid) return say(res, 422, { message: 'Wrong contents' });
  const file = fileOf(call.folder, oid);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(`${file}.part`, content);
  await rename(`${file}.part`, file);
  res.writeHead(200).end();
}

async function answerVerify(call: Call, oid: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { oid: named, size } = JSON.parse((await buffer(req)).toString('utf8')) as { oid: string; size: number };
  const stats = await stat(fileOf(call.folder, oid)).catch(() => undefined);
  const isRight = named === oid && stats?.size === size;
  say(res, isRight ? 200 : 404, isRight ? {} : { message: 'Object does not exist' });
}

async function send({ folder }: Call, oid: string, res: ServerResponse): Promise<void> {
  const content = await readFile(fileOf(folder, oid)).catch(() => undefined);
  if (content === undefined) return say(res, 404, { message: 'Object does not exist' });
  res.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': content.length }).end(content);
}

async function mayPush({ host, name, token }: Call): Promise<boolean> {
  return token !== undefined && host.mayPush(name, token);
}

function fileOf(folder: string, oid: string): string {
  return join(folder, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
}

function say(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': mediaType }).end(JSON.stringify(body));
}
