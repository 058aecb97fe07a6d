import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { type Entry, tar } from './tar.ts';

const digestOf = (content: Buffer | string) => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** An image as a registry has it. */
export interface MadeImage {
  digest: string;
  mediaType: string;
  manifest: string;
  blobs: Map<string, Buffer>;
}

interface Options {
  env?: string[];
  architecture?: string;
  compression?: 'gzip' | 'zstd' | 'none';
  /** Changes what the manifest or the configuration says. */
  manifest?: (manifest: Record<string, unknown>) => Record<string, unknown>;
  config?: (config: Record<string, unknown>) => Record<string, unknown>;
}

const ourArchitecture = process.arch === 'x64' ? 'amd64' : process.arch;
const oci = 'application/vnd.oci.image';
const pack = {
  gzip: (layer: Buffer) => gzipSync(layer, { level: 1 }),
  zstd: zstdCompressSync,
  none: (layer: Buffer) => layer,
};

/** Makes an image from layers, which are archives or lists of their entries. */
export function makeImage(layers: (Entry[] | Buffer)[], options: Options = {}): MadeImage {
  const { env = [], architecture = ourArchitecture, compression = 'gzip' } = options;
  const { manifest: changeManifest = (m) => m, config: changeConfig = (c) => c } = options;
  const blobs = new Map<string, Buffer>();
  const keep = (content: Buffer) => {
    blobs.set(digestOf(content), content);
    return { digest: digestOf(content), size: content.length };
  };
  const archives = layers.map((layer) => (Buffer.isBuffer(layer) ? layer : tar(layer)));
  const config = {
    os: 'linux',
    architecture,
    config: { Env: env },
    rootfs: { type: 'layers', diff_ids: archives.map(digestOf) },
  };
  const suffix = compression === 'none' ? '' : `+${compression}`;
  const manifest = {
    schemaVersion: 2,
    mediaType: `${oci}.manifest.v1+json`,
    config: { mediaType: `${oci}.config.v1+json`, ...keep(Buffer.from(JSON.stringify(changeConfig(config)))) },
    layers: archives.map((each) => ({ mediaType: `${oci}.layer.v1.tar${suffix}`, ...keep(pack[compression](each)) })),
  };
  const text = JSON.stringify(changeManifest(manifest));
  return { digest: digestOf(text), mediaType: manifest.mediaType, manifest: text, blobs };
}

/** Entries of a small system with a shell, taken from this machine. */
export function smallSystem(): Entry[] {
  const libraries = execFileSync('ldd', ['/bin/sh'], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g);
  const files = ['/bin/sh', ...[...libraries].map(([, path = '']) => path)];
  return files.map((path) => ({ name: path.slice(1), mode: 0o755, content: readFileSync(path) }));
}

export const file = (name: string, content = name, mode = 0o644): Entry => ({ name, content, mode });
export const folder = (name: string, mode = 0o755): Entry => ({ name: `${name}/`, kind: '5', mode });
export const link = (name: string, target: string): Entry => ({ name, kind: '2', target });
