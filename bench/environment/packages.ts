import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { tar } from '../../test/images/stand-ins/tar.ts';
import { seeded } from '../siege/traffic.ts';

/** The size of what is installed: 403 MB in 23,900 files and folders, like a real repository that was slow. */
export const packageCount = 420;
const filesEach = 48;
/** Most files of packages are small, and a few are large. The average is 20,000 bytes. */
const sizes = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 96_500];

/** A name that only the bench resolves. */
export const registryHost = 'packages.example.org';

/** What a repository needs to install the packages. */
export interface Packages {
  /** The packed packages, under the paths of their addresses. */
  folder: string;
  megabytes: number;
  /** The files of the repository, by name. */
  files: Record<string, string>;
}

/** Makes packages, and a repository that depends on them. They are the same in every run of the bench. */
export async function makePackages(folder: string, certificate: string): Promise<Packages> {
  const next = seeded(15);
  const words = Array.from({ length: 400 }, () => Math.floor(next() * 1e12).toString(36));
  const source = sourceOf(words, next);
  const dependencies: Record<string, string> = {};
  const locked: Record<string, object> = {};
  for (let i = 0; i < packageCount; i++) {
    const name = `part-${i}`;
    const path = `${name}/-/${name}-1.0.0.tgz`;
    const packed = await packedPackage(name, source);
    await mkdir(join(folder, name, '-'), { recursive: true });
    await writeFile(join(folder, path), packed);
    const integrity = `sha512-${createHash('sha512').update(packed).digest('base64')}`;
    dependencies[name] = '1.0.0';
    locked[`node_modules/${name}`] = { version: '1.0.0', resolved: `https://${registryHost}/${path}`, integrity };
  }
  const own = { name: 'large', version: '1.0.0' };
  const lock = { ...own, lockfileVersion: 3, requires: true, packages: { '': { ...own, dependencies }, ...locked } };
  const files = {
    '.gitignore': 'node_modules/\n',
    '.npmrc': `registry=https://${registryHost}/\ncafile=ca.pem\nreplace-registry-host=always\naudit=false\nfund=false\n`,
    'ca.pem': certificate,
    'package.json': JSON.stringify({ ...own, private: true, dependencies }),
    'package-lock.json': JSON.stringify(lock),
  };
  const megabytes = (packageCount * filesEach * sizes.reduce((sum, size) => sum + size, 0)) / sizes.length / 1e6;
  return { folder, megabytes, files };
}

function packedPackage(name: string, source: (bytes: number) => string): Promise<Buffer> {
  const manifest = { name: 'package/package.json', content: JSON.stringify({ name, version: '1.0.0' }) };
  const files = Array.from({ length: filesEach }, (_, i) => ({
    name: `package/lib/part${i % 6}/file${i}.js`,
    content: source(sizes[i % sizes.length] ?? 0),
  }));
  return promisify(gzip)(tar([manifest, ...files]));
}

/** Returns a function that writes text like that of a program, which can be compressed to about a fifth. */
function sourceOf(words: string[], next: () => number): (bytes: number) => string {
  const word = () => words[Math.floor(next() * words.length)];
  return (bytes) => {
    let text = '';
    while (text.length < bytes) text += `const ${word()} = ${word()}(${word()}, ${word()}.${word()});\n`;
    return text.slice(0, bytes);
  };
}
