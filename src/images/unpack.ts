import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exposeToOom } from '../host/own-process.ts';
import { imageFailed, quoted } from './reference.ts';
import type { Layer, RemoteImage } from './registry/manifest.ts';

/** The user who owns unpacked images if the service is root. No sandbox runs as this user. */
export const imageUser = 62_234;

const unpackSeconds = 900;
const maxMemory = 2 * 2 ** 30;
const maxComplaint = 4000;

const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
};

/** Returns the path of umoci, in a folder that its sandbox contains too. */
export function findUmoci(): string | undefined {
  return ['/usr/local/bin/umoci', '/usr/bin/umoci'].find((path) => existsSync(path));
}

/**
 * Writes what umoci needs beside the layers: the image layout of the OCI. The layers are already decompressed, so the
 * manifest is a new one.
 */
export async function writeLayout(folder: string, { config, layers }: RemoteImage, sizes: Map<string, number>) {
  const blob = async (content: Uint8Array | string) => {
    const hex = createHash('sha256').update(content).digest('hex');
    await writeFile(join(folder, 'blobs/sha256', hex), content);
    return { digest: `sha256:${hex}`, size: Buffer.byteLength(content) };
  };
  const described = ({ diffId }: Layer) => ({
    mediaType: mediaTypes.layer,
    digest: diffId,
    size: sizes.get(diffId) ?? 0,
  });
  const manifest = await blob(
    JSON.stringify({
      schemaVersion: 2,
      config: { mediaType: mediaTypes.config, ...(await blob(config)) },
      layers: layers.map(described),
    }),
  );
  const annotations = { 'org.opencontainers.image.ref.name': 'latest' };
  const manifests = [{ mediaType: mediaTypes.manifest, ...manifest, annotations }];
  await writeFile(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
  await writeFile(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
}

/**
 * Unpacks the layout in `<folder>/layout` into `<folder>/root`, in a sandbox that contains nothing else that can be
 * written to. Sandboxes of runs must be able to read every file and change none, so permissions are made uniform; setuid
 * bits would be dangerous on the host.
 */
export async function unpack(folder: string, name: string, maxFileBytes: number, signal: AbortSignal): Promise<void> {
  const umoci = findUmoci() ?? 'umoci';
  const script = `${umoci} raw unpack --rootless --image /image/layout:latest /image/root
    chmod -R u+rwX,a+rX,ug-s,go-w /image/root`;
  const limits = [`--fsize=${maxFileBytes}`, `--data=${maxMemory}`, '--core=0'];
  const walls = [
    ...['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/usr', '/usr'],
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((each) => ['--symlink', `usr/${each}`, `/${each}`]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--bind', folder, '/image'],
    ...['--chdir', '/', '--clearenv', '--setenv', 'PATH', '/usr/bin:/bin', '--setenv', 'HOME', '/tmp'],
  ];
  const who = process.getuid?.() === 0 ? { uid: imageUser, gid: imageUser } : {};
  const args = ['-n', '10', 'prlimit', ...limits, '--', 'bwrap', ...walls, '--', '/bin/sh', '-ec', script];
  const child = spawn('nice', args, {
    ...who,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: AbortSignal.any([signal, AbortSignal.timeout(unpackSeconds * 1000)]),
    killSignal: 'SIGKILL',
  });
  exposeToOom(child.pid);
  const { code, complaint } = await ended(child);
  if (signal.aborted) throw signal.reason;
  if (code !== 0)
    throw imageFailed(`${name} cannot be unpacked: ${quoted(complaint) || `it took over ${unpackSeconds} s`}`);
}

async function ended(child: ChildProcess): Promise<{ code: number | null; complaint: string }> {
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-maxComplaint);
  });
  child.on('error', (error) => {
    complaint ||= error.name === 'AbortError' ? '' : error.message;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  // The last line says why.
  return { code, complaint: complaint.trim().split('\n').pop() ?? '' };
}
