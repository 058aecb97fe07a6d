import pRetry, { AbortError } from 'p-retry';
import { RunFailed } from '../../domain/run.ts';
import { imageFailed, quoted, type Reference } from '../reference.ts';
import { addressFrom, authorize, type Credentials, isLoopback } from './authorize.ts';

const attempts = 3;

/** Repeats work that may have failed because of a temporary fault of the network. A refusal or a full disk is final. */
export function retried<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const once = () =>
    work().catch((error: Error & { code?: string }) => {
      throw error instanceof RunFailed || error.code === 'ENOSPC' ? new AbortError(error) : error;
    });
  return pRetry(once, { retries: attempts - 1, minTimeout: 500, signal });
}

export interface RegistryOptions {
  reference: Reference;
  credentials: Credentials | undefined;
  /** Sends one request and follows no redirect. It throws when the host's address is closed. */
  send: typeof fetch;
  signal: AbortSignal;
}

const maxRedirects = 5;
const redirects = [301, 302, 303, 307, 308];

/** How long a server may take until it begins to answer. */
const answerSeconds = 30;

/**
 * Asks a registry for parts of one image (the distribution specification of the OCI). Follows redirects one by one, so
 * that each address is checked; only the registry itself gets the `Authorization` header.
 */
export class RegistryClient {
  readonly #options: RegistryOptions;
  #origin: URL | undefined;
  #authorization: string | undefined;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** Asks for `manifests/<version>` or `blobs/<digest>`. @throws RunFailed when it is refused */
  async get(path: string, accept: string, signal: AbortSignal): Promise<Response> {
    const { reference, credentials, send } = this.#options;
    const registry = await this.#findOrigin();
    const url = new URL(`/v2/${reference.repository}/${path}`, registry);
    let response = await this.#follow(url, accept, signal);
    if (response.status === 401) {
      await response.body?.cancel();
      const challenge = response.headers.get('www-authenticate') ?? '';
      const { repository } = reference;
      // Also when an earlier token has expired.
      this.#authorization = await authorize({ challenge, registry, repository, credentials, send, signal });
      if (this.#authorization !== undefined) response = await this.#follow(url, accept, signal);
    }
    if (response.ok) return response;
    await response.body?.cancel();
    throw refusal(response.status, registry, reference.name, credentials);
  }

  /**
   * Registries are contacted over https. A registry on this machine may also use http, as in tests. Whether this
   * machine may be contacted is decided where requests are sent.
   */
  async #findOrigin(): Promise<URL> {
    if (this.#origin !== undefined) return this.#origin;
    const { reference, send, signal } = this.#options;
    const origin = new URL(`https://${reference.registry}`);
    if (isLoopback(origin)) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(answerSeconds * 1000)]);
      const answered = await send(new URL('/v2/', origin), { signal: within }).catch(() => undefined);
      await answered?.body?.cancel();
      if (answered === undefined) origin.protocol = 'http:';
    }
    this.#origin = origin;
    return origin;
  }

  async #follow(first: URL, accept: string, signal: AbortSignal): Promise<Response> {
    let url = first;
    for (let count = 0; ; count++) {
      const isRegistry = url.origin === first.origin;
      const authorization = isRegistry ? this.#authorization : undefined;
      const headers = { accept, ...(authorization === undefined ? {} : { authorization }) };
      const response = await this.#send(url, headers, signal);
      const location = response.headers.get('location');
      if (!redirects.includes(response.status) || location === null) return response;
      await response.body?.cancel();
      if (count === maxRedirects) throw imageFailed(`${first.host} redirects more than ${maxRedirects} times`);
      url = addressFrom(location, url, `a redirect of ${url.host}`);
    }
  }

  async #send(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const start = startingWithin(signal);
    try {
      return await this.#options.send(url, { headers, signal: start.signal });
    } catch (error) {
      if (signal.aborted || !start.isLate()) throw error;
      throw new Error(`${url.host} did not answer within ${answerSeconds} s`);
    } finally {
      start.stop();
    }
  }
}

/** Limits the time until an answer begins. After that, only the given `signal` still aborts the request. */
function startingWithin(signal: AbortSignal) {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), answerSeconds * 1000);
  return {
    signal: AbortSignal.any([signal, late.signal]),
    isLate: () => late.signal.aborted,
    stop: () => clearTimeout(timer),
  };
}

/** Describes a response that is not a success. A fault of the server is not a refusal: asking again may help. */
function refusal(status: number, { host }: URL, name: string, credentials: Credentials | undefined): Error {
  const who = `the registry ${host}`;
  if (status >= 500) return new Error(`${who} answered HTTP ${status} when it was asked for ${name}`);
  if (status === 401 || status === 403)
    return imageFailed(
      credentials === undefined
        ? `${who} requires credentials for ${name}; name the two secrets with them in imageAuth`
        : `${who} refused the credentials of imageAuth for ${name} (HTTP ${status}); check both secrets`,
    );
  if (status === 404) return imageFailed(`${who} has no image ${quoted(name)}; check its name and tag`);
  if (status === 429) return imageFailed(`${who} limits how often images are pulled (HTTP 429); try again later`);
  return imageFailed(`${who} answered HTTP ${status} when it was asked for ${name}`);
}
