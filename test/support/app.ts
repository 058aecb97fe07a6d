import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ModelRequest, type Said, startModel } from '../../demo/model/model.ts';
import type { App } from '../../src/app.ts';
import { compose } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { webhookPath } from '../../src/github/app/manifest.ts';
import { webhookReceiver } from '../../src/github/inbox/receive.ts';
import { httpServer } from '../../src/http/limits/listener.ts';
import { createServer } from '../../src/http/server.ts';
import { workersOf } from '../../src/jobs.ts';
import { createLogger } from '../../src/logger.ts';
import { mintOperatorToken, userOfLogin } from '../../src/projects/tokens.ts';
import { routes } from '../../src/routes.ts';
import { pagesOf } from '../../src/serve.ts';
import { createTestDatabase } from './database.ts';
import { letGo } from './jest/let-go.ts';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it expects of a reply
  body: any;
  headers: Headers;
}

export interface TestApp {
  app: App;
  url: string;
  call(
    method: string,
    path: string,
    options?: { token?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer>;
  token(login: string): Promise<string>;
  /** Starts handling jobs. */
  work(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the real service in this process, on its own copy of the database `template`. GitHub and the sandbox, which tests
 * itself when it starts, are off unless the settings say otherwise.
 */
export async function openTestApp(settings: Record<string, string> = {}, template?: string): Promise<TestApp> {
  const database = await createTestDatabase(template);
  const dataDir = await mkdtemp(join(tmpdir(), 'deckhand-app-'));
  const config = readConfig({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    JWT_SECRET: 'a secret of the tests that is long enough',
    ENCRYPTION_KEY: '11'.repeat(32),
    LOG_LEVEL: 'silent',
    BASE_URL: 'http://localhost:3000',
    GITHUB_WRITE_INTERVAL_MS: '0',
    MIRROR_INTERVAL_MS: '0',
    RATE_LIMIT_REQUESTS: '0',
    RATE_LIMIT_STARTS: '0',
    RATE_LIMIT_ANONYMOUS: '0',
    SANDBOX: 'off',
    ...settings,
    ...(template === undefined ? {} : { DATABASE_URL: database.url }),
  });
  const stop = new AbortController();
  // Few tests handle jobs. What looks after them costs each start two connections, which is a tenth of its processor time.
  const composed = await compose(config, createLogger(config), { isWorker: false, stopping: stop.signal });
  const { app } = composed;
  const webhooks = { path: webhookPath, handler: webhookReceiver(app) };
  const extras = { pages: pagesOf(app), webhooks };
  const server = await new Promise<Server>((resolve) => {
    const listening = httpServer(createServer(app, routes, extras)).listen(0, '127.0.0.1', () => resolve(listening));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const opened: TestApp = {
    app,
    url,
    call: async (method, path, { token, body, headers = {} } = {}) => {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      return {
        status: response.status,
        headers: response.headers,
        body: isJson && text !== '' ? JSON.parse(text) : text,
      };
    },
    token: async (login) => (await mintOperatorToken(app, await userOfLogin(app, login), 'test', 1)).token,
    work: () => app.queue.work(workersOf(app)),
    close: async () => {
      stop.abort();
      server.close();
      server.closeAllConnections();
      await composed.close();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
      letGo(opened);
    },
  };
  return opened;
}

/**
 * Call it once in a test file: opens the service and a model for it. `talk.says` is what the model answers; before each
 * answer it waits for `talk.before`.
 */
export async function openAppWithModel(settings: Record<string, string> = {}) {
  const talk = {
    says: (() => 'Fine.') as (request: ModelRequest) => Said,
    before: async (): Promise<void> => {},
  };
  const model = await startModel(
    (request) => talk.says(request),
    () => talk.before(),
  );
  const service = await openTestApp({
    OPENAI_API_KEY: 'sk-x',
    OPENAI_MODEL: 'm',
    OPENAI_BASE_URL: model.url,
    RATE_LIMIT_MODEL: '0',
    ...settings,
  });
  afterAll(async () => {
    await service.close();
    await model.close();
    letGo(model);
  });
  return { talk, model, service };
}
