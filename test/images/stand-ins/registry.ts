import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RunFailed } from '../../../src/domain/run.ts';
import type { Credentials } from '../../../src/images/registry/authorize.ts';
import type { MadeImage } from './made-image.ts';

/** Answers a request itself if it returns true. */
export type Instead = (req: IncomingMessage, res: ServerResponse, path: string) => boolean;

/** Credentials that may be sent to all hosts, or only to some. */
export function credentials(username: string, password: string, hosts?: string[]): Credentials {
  return {
    version: `${username} ${password}`,
    openFor: (host) => {
      if (hosts !== undefined && !hosts.includes(host)) throw new RunFailed('setup', `not for ${host}`);
      return { username, password };
    },
  };
}

/** A registry in this process, which a test can make hostile. */
export async function startRegistry(images: Record<string, MadeImage>, instead: Instead = () => false) {
  const asked: { path: string; authorization: string | undefined }[] = [];
  const answer: { instead: Instead } = { instead };
  const server = createServer((req, res) => {
    const path = req.url ?? '';
    res.on('error', () => {});
    asked.push({ path, authorization: req.headers.authorization });
    if (answer.instead(req, res, path)) return;
    const [, repository = '', kind, version = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    if (path === '/v2/') return res.end('{}');
    const named = Object.entries(images).filter(([name]) => name.split(':')[0] === repository);
    const [, manifest] = named.find(([name, i]) => name === `${repository}:${version}` || i.digest === version) ?? [];
    if (kind === 'manifests' && manifest !== undefined)
      return res.writeHead(200, { 'Content-Type': manifest.mediaType }).end(manifest.manifest);
    const blob = named.map(([, image]) => image.blobs.get(version)).find((found) => found !== undefined);
    if (kind === 'blobs' && blob !== undefined) return res.end(blob);
    return res.writeHead(404).end('{"errors":[]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    asked,
    answer,
    images,
    blobsAsked: () => asked.filter(({ path }) => path.includes('/blobs/')).length,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
