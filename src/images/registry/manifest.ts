import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseWithin } from '../../domain/json/json-cost.ts';
import { imageFailed, quoted, type Reference } from '../reference.ts';
import { readWithin } from './authorize.ts';
import type { RegistryClient } from './client.ts';

/** Sizes of a manifest and of a configuration. Real configurations have a few kB; long labels make them larger. */
const [maxManifestBytes, maxConfigBytes] = [4_000_000, 1_000_000];
/** How many values the JSON of either has. One of 256 layers with five annotations each has about 5,000. */
const maxValues = 10_000;
/** Docker itself makes images of at most 127 layers. */
const [maxLayers, maxPlatforms, maxVariables] = [256, 500, 1000];

const short = z.string().max(200);
const digest = short.regex(/^sha256:[0-9a-f]{64}$/);
const size = z.number().int().min(0);
const platform = z.object({ os: short, architecture: short, variant: short.optional() });
const index = z.object({
  manifests: z.array(z.object({ digest, platform: platform.optional() })).max(maxPlatforms),
});
const manifest = z.object({
  config: z.object({ digest, size }),
  layers: z.array(z.object({ mediaType: short, digest, size })).max(maxLayers),
});
const imageConfig = z.object({
  os: short,
  architecture: short,
  config: z
    .object({ Env: z.array(z.string()).max(maxVariables).nullish(), WorkingDir: z.string().max(4096).nullish() })
    .nullish(),
  rootfs: z.object({ type: z.literal('layers'), diff_ids: z.array(digest).max(maxLayers) }),
});

const compressions = { '': 'none', gzip: 'gzip', zstd: 'zstd' } as const;

export interface Layer {
  digest: string;
  /** Bytes to download. */
  size: number;
  compression: (typeof compressions)[keyof typeof compressions];
  /** Digest of the archive without compression. */
  diffId: string;
}

/** An image for this machine's processor, as its registry describes it. */
export interface RemoteImage {
  digest: string;
  layers: Layer[];
  /** The configuration as the registry sent it. */
  config: Uint8Array;
  env: Record<string, string>;
  workDir: string | undefined;
}

const kinds = {
  index: ['application/vnd.oci.image.index.v1+json', 'application/vnd.docker.distribution.manifest.list.v2+json'],
  manifest: ['application/vnd.oci.image.manifest.v1+json', 'application/vnd.docker.distribution.manifest.v2+json'],
};

const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64' };
const ours = { os: 'linux', architecture: architectures[process.arch] ?? process.arch };

/** Asks the registry what an image consists of. @throws RunFailed when it cannot run on this machine */
export async function describeImage(
  registry: RegistryClient,
  reference: Reference,
  signal: AbortSignal,
): Promise<RemoteImage> {
  const { name, version, isDigest } = reference;
  const named = await fetchManifest(registry, version, isDigest ? version : undefined, name, signal);
  const list = named.isIndex ? parse(index, named.bytes, name) : undefined;
  const chosen = list === undefined ? named : await fetchChosen(registry, list, name, signal);
  const { config, layers } = parse(manifest, chosen.bytes, name);
  const bytes = await fetchConfig(registry, config.digest, name, signal);
  const { os, architecture, config: more, rootfs } = parse(imageConfig, bytes.bytes, name);
  if (os !== ours.os || architecture !== ours.architecture) throw notForUs(name, [{ os, architecture }]);
  if (rootfs.diff_ids.length !== layers.length) throw imageFailed(`the layers of ${name} contradict its configuration`);
  return {
    digest: chosen.digest,
    layers: layers.map(({ mediaType, digest, size }, i) => ({
      digest,
      size,
      compression: compressionOf(mediaType, name),
      diffId: rootfs.diff_ids[i] ?? '',
    })),
    config: bytes.bytes,
    env: variablesIn(more?.Env ?? [], name),
    workDir: more?.WorkingDir?.startsWith('/') ? more.WorkingDir : undefined,
  };
}

/** Fetches the manifest of this machine's platform. */
async function fetchChosen(
  registry: RegistryClient,
  { manifests }: z.infer<typeof index>,
  name: string,
  signal: AbortSignal,
) {
  const fitting = manifests.find((m) => m.platform?.os === ours.os && m.platform.architecture === ours.architecture);
  if (fitting === undefined)
    throw notForUs(
      name,
      manifests.flatMap((m) => m.platform ?? []),
    );
  const chosen = await fetchManifest(registry, fitting.digest, fitting.digest, name, signal);
  if (chosen.isIndex) throw imageFailed(`the list of platforms of ${name} contains another list`);
  return chosen;
}

async function fetchManifest(
  registry: RegistryClient,
  version: string,
  expected: string | undefined,
  name: string,
  signal: AbortSignal,
) {
  const accept = [...kinds.index, ...kinds.manifest].join(', ');
  const response = await registry.get(`manifests/${version}`, accept, signal);
  const found = await readChecked(response, maxManifestBytes, expected, name);
  const kind = found.kind.split(';')[0]?.trim() ?? '';
  const isIndex = kinds.index.includes(kind);
  if (!isIndex && !kinds.manifest.includes(kind))
    throw imageFailed(`the registry describes ${name} in a format that is not supported (${quoted(kind)})`);
  return { ...found, isIndex };
}

async function fetchConfig(registry: RegistryClient, digest: string, name: string, signal: AbortSignal) {
  return readChecked(await registry.get(`blobs/${digest}`, '*/*', signal), maxConfigBytes, digest, name);
}

/** Reads a short document. @throws RunFailed when its digest is not the expected one */
async function readChecked(response: Response, maxBytes: number, expected: string | undefined, name: string) {
  const bytes = await readWithin(response, maxBytes, `the registry about ${name}`);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (expected !== undefined && digest !== expected)
    throw imageFailed(`the registry sent something other than ${expected} for ${name}`);
  return { bytes, digest, kind: response.headers.get('content-type') ?? '' };
}

function parse<T>(schema: z.ZodType<T>, bytes: Uint8Array, name: string): T {
  try {
    const found = schema.safeParse(parseWithin(new TextDecoder().decode(bytes), maxValues));
    if (found.success) return found.data;
    const [issue] = found.error.issues;
    throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
  } catch (error) {
    throw imageFailed(`the registry describes ${name} incorrectly (${quoted((error as Error).message)})`);
  }
}

function compressionOf(mediaType: string, name: string): Layer['compression'] {
  const ending = /(?:\.tar|\.tar[+.](gzip|zstd))$/.exec(mediaType);
  if (ending === null) throw imageFailed(`${name} has a layer of an unsupported kind, ${quoted(mediaType)}`);
  return compressions[(ending[1] ?? '') as keyof typeof compressions];
}

function notForUs(name: string, platforms: { os: string; architecture: string }[]) {
  const isThere = quoted([...new Set(platforms.map((p) => `${p.os}/${p.architecture}`))].join(', '));
  return imageFailed(`${name} is not made for ${ours.os}/${ours.architecture}, only for ${isThere || 'nothing'}`);
}

const maxVariableBytes = 100_000;

function variablesIn(lines: string[], name: string): Record<string, string> {
  if (lines.join('').length > maxVariableBytes)
    throw imageFailed(`the environment variables of ${name} are larger than ${maxVariableBytes / 1000} kB`);
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, key, value] = /^([A-Za-z_][A-Za-z0-9_]*)=([^\0]*)$/s.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value]];
    }),
  );
}
