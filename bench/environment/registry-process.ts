import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

// A registry that serves packed packages from a folder. Called with the folder, a key and its certificate.

const [folder = '', key = '', cert = ''] = process.argv.slice(2);

const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (req, res) => {
  const path = /^\/(part-\d+\/-\/[\w.-]+\.tgz)$/.exec(req.url ?? '')?.[1];
  if (path === undefined) return res.writeHead(404).end();
  return pipeline(createReadStream(join(folder, path)), res, () => {});
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
