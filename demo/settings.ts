import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { ScriptedModel } from './model/model.ts';

/**
 * Returns settings that connect a service to the demo's GitHub and the scripted model. They use nothing from the
 * environment.
 */
export function demoSettings(given: {
  github: { url: string; appId: number; privateKey: string; webhookSecret: string };
  model: ScriptedModel;
  port: number;
  dataDir: string;
}): Record<string, string> & { BASE_URL: string } {
  return {
    PORT: String(given.port),
    BASE_URL: `http://localhost:${given.port}`,
    DATA_DIR: given.dataDir,
    METRICS_PORT: '0',
    APP_ID: String(given.github.appId),
    PRIVATE_KEY: given.github.privateKey,
    WEBHOOK_SECRET: given.github.webhookSecret,
    GITHUB_CLIENT_ID: 'Iv1.demo',
    GITHUB_CLIENT_SECRET: 'the-demo-needs-no-secret',
    GITHUB_API_URL: given.github.url,
    GITHUB_SERVER_URL: given.github.url,
    OPENAI_BASE_URL: given.model.url,
    OPENAI_API_KEY: 'sk-demo-key-of-the-scripted-model',
    OPENAI_MODEL: 'scripted',
    MODEL_PRICES: '{"scripted":{"input":1.25,"output":10}}',
    GITHUB_WRITE_INTERVAL_MS: '20',
    MIRROR_INTERVAL_MS: '1000',
    RATE_LIMIT_REQUESTS: '0',
    RATE_LIMIT_STARTS: '0',
    RATE_LIMIT_ANONYMOUS: '0',
  };
}

/** Returns the preferred port if it is free, otherwise another one. */
export async function freePort(preferred = anyPort()): Promise<number> {
  for (let port = preferred; ; port = anyPort()) if (await isFree(port)) return port;
}

/**
 * Chooses a port below those that the kernel assigns to outgoing connections. One of those could be taken before the
 * service listens on it, or while it restarts.
 */
function anyPort(): number {
  return randomInt(lowestPort, Math.max(lowestPort + 1000, firstOfKernel()));
}

/** Browsers refuse some ports up to 10080. */
const lowestPort = 11_000;

function firstOfKernel(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
  } catch {
    // Systems other than Linux begin higher.
    return 32_768;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    );
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
