import { generateKeyPairSync } from 'node:crypto';
import { ProbotOctokit } from 'probot';
import type { Octokit } from '../../src/app.ts';
import { noProxies } from '../../src/host/proxies.ts';
import { fetchFromGitHub } from '../../src/outgoing/fetch-from.ts';

/** A private key in the format that GitHub gives to Apps. */
export const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
}) as string;

/** Settings of a service with an App on the GitHub at this URL. */
export const appSettings = (url: string, webhookSecret = 'x') => ({
  APP_ID: '1',
  PRIVATE_KEY: privateKey,
  WEBHOOK_SECRET: webhookSecret,
  GITHUB_API_URL: url,
  GITHUB_SERVER_URL: url,
});

/** Creates a client of an installation for the GitHub at this URL. */
export function octokitFor(url: string): Octokit {
  const off = { enabled: false };
  const octokit = new ProbotOctokit({
    baseUrl: url,
    auth: { token: 'ghs_x' },
    retry: off,
    throttle: off,
    request: { fetch: fetchFromGitHub(noProxies) },
  });
  return octokit as unknown as Octokit;
}
