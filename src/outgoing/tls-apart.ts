import { Duplex } from 'node:stream';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { sharedCompileCache } from '../host/own-process.ts';
import { currentTenant } from '../threads/tenant.ts';
import type { FromThread, SecureTarget, ToThread } from './tls-thread.ts';

/** The most threads that speak TLS. All connections of a tenant share one, so that a hostile server delays only some tenants. */
const atMost = 4;

interface TlsThread {
  worker: Worker;
  open: Set<Duplex>;
}

/** Returns the thread for a tenant, which is started for its first connection, and again if it has ended. */
const threadFor = (() => {
  const threads = new Map<number, TlsThread>();
  return (tenant = ''): TlsThread => {
    const place = Array.from(tenant).reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 65_521, 0) % atMost;
    const known = threads.get(place);
    if (known !== undefined) return known;
    const open = new Set<Duplex>();
    const worker = new Worker(new URL('./tls-thread.ts', import.meta.url), {
      name: 'tls',
      env: sharedCompileCache(),
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
    const thread = { worker, open };
    threads.set(place, thread);
    const forget = () => {
      if (threads.get(place) === thread) threads.delete(place);
    };
    worker.on('error', (error) => {
      // It does not work any more, although it exits later.
      forget();
      for (const each of open) each.destroy(error);
    });
    worker.once('exit', forget).unref();
    return thread;
  };
})();

/**
 * Connects with TLS to a server that anybody may have named. Another thread does it, because a server can make a handshake cost
 * seconds of processor time: by long chains of certificates with large keys, for example. The certificate is checked.
 */
export function connectApart(target: SecureTarget): Duplex {
  const { port1: own, port2: port } = new MessageChannel();
  const { worker, open } = threadFor(currentTenant());
  worker.postMessage({ port, target }, [port]);
  const socket = new ApartSocket(own);
  open.add(socket);
  return socket.once('close', () => open.delete(socket));
}

/** A connection whose bytes another thread encrypts. */
class ApartSocket extends Duplex {
  readonly #port: MessagePort;
  #written: (() => void) | undefined;
  #isWhole = false;
  /** As sockets of Node have it. */
  bytesRead = 0;

  constructor(port: MessagePort) {
    super({ allowHalfOpen: true });
    this.#port = port;
    port.on('message', (message: FromThread) => this.#take(message));
    // The thread has ended.
    port.on('close', () => this.#close());
  }

  /** What has arrived is still read, unless it was cut. */
  #close(): void {
    if (this.#isWhole) this.end();
    else this.destroy();
  }

  override _read(): void {
    this.#say('more');
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#written = done;
    this.#say({ data: chunk });
  }

  override _final(done: () => void): void {
    this.#say('end');
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.close();
    done(error);
  }

  #say(message: ToThread): void {
    this.#port.postMessage(message);
  }

  #take(message: FromThread): void {
    if (message === 'end') {
      this.#isWhole = true;
      this.push(null);
    } else if (message === 'closed') this.#close();
    else if (message === 'written') this.#written?.();
    else if ('error' in message) this.destroy(Object.assign(new Error(message.error.message), message.error));
    else {
      this.bytesRead += message.data.length;
      this.push(message.data);
    }
  }
}
