import { createServer } from 'node:net';
import type { DemoGitHub } from './github/github.ts';
import type { ScriptedModel } from './model/model.ts';

/**
 * Returns settings that connect a service to the demo's GitHub and the scripted model. They use nothing from the
 * environment.
 */
export function demoSettings(given: {
  github: DemoGitHub;
  model: ScriptedModel;
  port: number;
  dataDir: string;
}): Record<string, string> {
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
export function freePort(preferred = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => (preferred === 0 ? reject(error) : resolve(freePort())));
    probe.listen(preferred, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
