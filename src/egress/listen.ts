import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EgressOptions } from './egress.ts';
import type { ProxyServer } from './proxy-server.ts';

/** What Linux accepts as the path of a unix socket, without the byte that ends it. */
const maxPathBytes = 107;

/**
 * Listens on a new socket that only its owner can connect to. The signal closes it, with all connections.
 * @throws RangeError when the path is too long
 */
export async function listen(
  { server, end }: ProxyServer,
  { folder, own, signal }: Pick<EgressOptions, 'folder' | 'own' | 'signal'>,
): Promise<{ socket: string; close(): Promise<void> }> {
  signal.throwIfAborted();
  const home = await mkdtemp(join(folder, 'egress-'));
  const socket = join(home, 'socket');
  let closing: Promise<void> | undefined;
  const closeOnce = async () => {
    signal.removeEventListener('abort', closeUnasked);
    const closed = server.listening ? once(server.close(), 'close') : undefined;
    end();
    await closed;
    await rm(home, { recursive: true, force: true });
  };
  const close = () => {
    closing ??= closeOnce();
    return closing;
  };
  const closeUnasked = () => void close().catch(() => {});
  signal.addEventListener('abort', closeUnasked, { once: true });
  try {
    if (Buffer.byteLength(socket) > maxPathBytes)
      throw new RangeError(`${socket} is too long for a socket: at most ${maxPathBytes} bytes are possible`);
    await once(server.listen(socket), 'listening');
    await chmod(socket, 0o600);
    await own?.(socket);
    // The run's user can reach the socket in this folder, but cannot list the folder.
    await chmod(home, 0o711);
    signal.throwIfAborted();
  } catch (error) {
    await close();
    throw error;
  }
  return { socket, close };
}
