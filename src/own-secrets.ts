import type { App } from './app.ts';
import type { Keys } from './db/keys.ts';

/** A shorter database password may be an ordinary word, which could occur in any file. */
const leastPasswordLength = 16;

/** Returns the service's own credentials, in every form in which a run could publish them. */
export function secretsOf({ config, githubApp }: App, keys: Keys, databaseUrl: string): string[] {
  const password = decodeURIComponent(new URL(databaseUrl).password);
  const sealing = keys.encryptionKeys().flatMap((key) => [key.toString('hex'), key.toString('base64')]);
  // Every line identifies the key except the first, which is nearly the same in all keys.
  const lines = githubApp?.privateKey.split(/\r?\n/).filter((line) => /^[A-Za-z0-9+/]{64}$/.test(line)) ?? [];
  const ours = [config.OPENAI_API_KEY, keys.jwtSecret, githubApp?.client?.secret, ...(githubApp?.webhookSecrets ?? [])];
  return [
    ...ours,
    ...sealing,
    ...lines.slice(1, 4),
    password.length < leastPasswordLength ? undefined : password,
  ].filter((secret) => secret !== undefined);
}
