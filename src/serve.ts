import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { App } from './app.ts';
import { type Composed, compose } from './compose.ts';
import type { Config } from './config.ts';
import { watchDisks } from './data-folders.ts';
import { syncInstallations } from './github/app/installation.ts';
import { webhookPath } from './github/app/manifest.ts';
import { setupRoutes } from './github/app/setup.ts';
import { setupAddress } from './github/app/stored-app.ts';
import { reconcileAll } from './github/inbox/compare-with-github.ts';
import { webhookReceiver } from './github/inbox/receive.ts';
import { aboutApp, loginRoutes } from './github/sign-in.ts';
import { startHeartbeat } from './host/heartbeat.ts';
import { limitHeapGrowth, oomScores, protectFromOom } from './host/own-process.ts';
import { follow } from './http/events.ts';
import { allAnswered, httpServer } from './http/limits/listener.ts';
import { serveMetrics } from './http/metrics.ts';
import { dashboard } from './http/pages.ts';
import { type Readiness, readiness } from './http/readiness.ts';
import { createServer } from './http/server.ts';
import { scheduleOf, wakeNotices, workersOf } from './jobs.ts';
import { createLogger } from './logger.ts';
import { mailPages } from './notices/mail/pages.ts';
import { startSchedule } from './queue/queue.ts';
import { routes } from './routes.ts';
import { badgePages } from './runs/pull-proofs/badge.ts';
import { receiptKeyPages } from './runs/receipts/routes.ts';
import { closeInherited } from './sandbox/neutral-path.ts';
import { figuresOfDatabase } from './worker/lease/figures.ts';
import { forgetWorker, noteWorker } from './worker/lease/labels.ts';
import { followLabels } from './worker/lease/work-on-runs.ts';

/** How long the cause of a failure may arrive after its first symptom. */
const causeMs = 500;

/** How long a service that crashes may take to hand its runs over. */
const crashMs = 60_000;

/**
 * The reason why the service stops when an error has no handler. For example, pg-boss removes its handler from a
 * connection that it gives up, which may then report that the database has ended.
 */
class Crash extends Error {
  constructor(cause: unknown) {
    super(`an error had no handler: ${(cause as Error | undefined)?.message ?? cause}`, { cause });
  }
}

/** How long requests under way may take to end when the service stops. */
const lastRequestsMs = 10_000;

/**
 * How long everything may take from the moment that the service stops, as docs/operations.md promises. Then the process ends:
 * a connection whose other end has vanished could keep it for a quarter of an hour.
 */
const stopMs = 38_000;

/** Runs the service until SIGTERM or SIGINT; returns the exit code. */
export async function serve(config: Config): Promise<number> {
  closeInherited();
  protectFromOom('self', oomScores.service);
  limitHeapGrowth();
  const [drain, stop] = [new AbortController(), new AbortController()];
  // Somebody who presses Ctrl-C has no load balancer, and does not want to wait.
  process.once('SIGINT', () => stop.abort(new Error('SIGINT')));
  const log = createLogger(config);
  // Orchestrators may send it again while requests end.
  process.on('SIGTERM', () => {
    if (drain.signal.aborted) return;
    drain.abort(new Error('SIGTERM'));
    const seconds = config.ROLE === 'worker' ? 0 : config.DRAIN_SECONDS;
    if (seconds > 0) log.info(`SIGTERM: not ready any more, and stopping in ${seconds} s (DRAIN_SECONDS)`);
    setTimeout(() => stop.abort(new Error('SIGTERM')), seconds * 1000);
  });
  process.once('uncaughtException', (error) => {
    stop.abort(new Crash(error));
    setTimeout(() => process.exit(1), crashMs).unref();
  });
  stop.signal.addEventListener('abort', () => setTimeout(() => endNow(log), stopMs).unref());
  await serveUntilStopped(config, log, stop, drain.signal);
  return 0;
}

/**
 * Runs the service until `stop` is aborted, and aborts it if a part of the service ends unexpectedly. Leaves the process
 * unchanged, so that a test can run the service in its own. `draining` is aborted some time before `stop`, so that load
 * balancers notice that the service is about to stop.
 * @throws Error when the service cannot start or a part ends unexpectedly
 */
export async function serveUntilStopped(
  config: Config,
  log: Logger,
  stop: AbortController,
  draining: AbortSignal = stop.signal,
): Promise<void> {
  const stopped = whenStopped(stop.signal, log);
  const isWorker = config.ROLE !== 'web';
  const composed = await compose(config, log, { isWorker, draining, stopping: stop.signal });
  const { app, notes } = composed;
  for (const note of notes) log.info(note);
  const unwatch = watchDisks([config.DATA_DIR, ...(isWorker ? [app.workDir] : [])], composed.databaseFolder, log);
  const servers: Server[] = [];
  let answered = async () => {};
  let stopHeartbeat = async () => {};
  let schedule: { stop(): Promise<void> } | undefined;
  try {
    const isReady = readiness(app);
    if (config.ROLE !== 'worker') {
      const server = await listen(app, isReady);
      answered = allAnswered(server);
      servers.push(server);
    }
    const health = healthOf(app, isReady);
    const metrics = await serveMetrics(app.metrics, config, health).catch(({ code }) => {
      const { METRICS_HOST: host, METRICS_PORT: port } = config;
      log.warn(
        `metrics are not served: port ${port} of ${host} cannot be used (${code}); set METRICS_HOST and METRICS_PORT`,
      );
    });
    if (metrics) servers.push(metrics);
    if (isWorker) schedule = await startWork(app);
    stopHeartbeat = startHeartbeat(config, health);
    // The service cannot work without its database. It ends, and its supervisor restarts it.
    await Promise.race([stopped, composed.broken]);
    log.info('stopping');
  } catch (error) {
    // If the database has ended, report that as the cause instead of this error.
    await Promise.race([composed.broken, sleep(causeMs)]);
    throw error;
  } finally {
    stop.abort(new Error('stopping'));
    unwatch();
    await stopHeartbeat();
    await schedule?.stop();
    await end(servers, answered, composed);
  }
}

function endNow(log: Logger): void {
  log.error(`the service did not stop within ${stopMs / 1000} s, so the process ends; other workers continue its runs`);
  process.exit(1);
}

/** Resolves when the service is asked to stop. Rejects when it crashes. */
function whenStopped(signal: AbortSignal, log: Logger): Promise<void> {
  const stopped = new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => (signal.reason instanceof Crash ? reject(signal.reason) : resolve()), {
      once: true,
    });
  });
  stopped.catch(({ cause }: Crash) => log.error({ err: cause }, 'an error had no handler, so the service ends'));
  return stopped;
}

/** Returns a function that determines the state of the process for its health check. */
function healthOf(app: App, isReady: () => Promise<Readiness>): () => Promise<string> {
  return async () => {
    const status = await isReady();
    if (status === 'ok') await app.queue.check();
    return status;
  };
}

/** Connections that wait in the kernel until Node accepts them, one in each turn of its event loop. It refuses those beyond for a second. */
const backlog = 4096;

/** Returns all that is served beside the API and the webhooks. */
export function pagesOf(app: App): RequestHandler[] {
  return [
    loginRoutes(app),
    setupRoutes(app),
    mailPages(app),
    badgePages(app),
    receiptKeyPages(app),
    dashboard(app, () => aboutApp(app)),
  ];
}

async function listen(app: App, isReady: () => Promise<Readiness>): Promise<Server> {
  const { HOST, PORT } = app.config;
  const setup = await setupAddress(app);
  const webhooks = { path: webhookPath, handler: webhookReceiver(app) };
  // Behind a proxy all connections come from one address.
  const limits = app.config.TRUST_PROXY > 0 ? { maxOfAddress: Number.POSITIVE_INFINITY } : {};
  const server = httpServer(createServer(app, routes, { pages: pagesOf(app), webhooks, isReady }), limits);
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(explained(error, HOST, PORT)));
    server.listen({ port: PORT, host: HOST, backlog }, () => {
      const { port } = server.address() as { port: number };
      app.log.info(`listening on http://${HOST}:${port}`);
      if (setup !== undefined) announceSetup(app, setup);
      resolve(server);
    });
  });
}

/** Prints the setup address on a separate line, so that it can be copied. */
function announceSetup(app: App, address: string): void {
  const text = 'No GitHub App is configured. Open this address to create one (it works once):';
  if (process.stdout.isTTY) process.stdout.write(`\n${text}\n\n  ${address}\n\n`);
  else {
    app.log.info(text);
    app.log.info(address);
  }
}

function explained(error: Error & { code?: string }, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE')
    return new Error(`PORT: ${port} on ${host} is in use; stop the process that listens there, or set another PORT`);
  return error.code === 'EACCES' ? new Error(`PORT: this user may not use port ${port}; set one above 1023`) : error;
}

async function startWork(app: App) {
  await app.queue.work(workersOf(app));
  // GitHub may have changed while no worker ran. Do not wait: the service must start even if GitHub cannot be reached
  // now.
  const caughtUp = syncInstallations(app)
    .catch((error) => app.log.error({ err: error }, 'the installations were not read at the start'))
    .then(() => reconcileAll(app, 'start'));
  caughtUp.catch((error) => app.log.error({ err: error }, 'the tasks were not compared with GitHub at the start'));
  const workerId = randomUUID();
  await noteWorker(app.db.manager, workerId, app.config.RUNS_ON);
  app.metrics.readers.push(figuresOfDatabase(app, workerId));
  followLabels(app, (error) => app.log.error({ err: error }, 'runs that need labels were not claimed at once'));
  await app.queue.send(undefined, 'run', {});
  sendAsNoted(app);
  const schedule = startSchedule(scheduleOf(app, workerId), (error) =>
    app.log.error({ err: error }, 'scheduled work failed'),
  );
  return {
    stop: async () => {
      await schedule.stop();
      await forgetWorker(app.db.manager, workerId).catch(() => {});
    },
  };
}

/** Sends webhooks and mail as soon as something is noted for them. The schedule repeats what fails here. */
function sendAsNoted(app: App): void {
  const onError = (error: unknown) => app.log.error({ err: error }, 'webhooks and mail were not sent at once');
  const listen = (hear: () => void) => {
    const ends = ['webhooks', 'mail'].map((topic) => app.db.listen(topic, hear));
    return () => {
      for (const end of ends) end();
    };
  };
  const look = () =>
    wakeNotices(app)
      .catch(onError)
      .then(() => false);
  follow(app.stopping, listen, look).catch(onError);
}

async function end(servers: Server[], answered: () => Promise<void>, composed: Composed): Promise<void> {
  for (const server of servers) {
    server.close();
    server.closeIdleConnections();
  }
  // Requests need the database until they end.
  await Promise.race([answered(), sleep(lastRequestsMs, undefined, { ref: false })]);
  await composed.close();
  for (const server of servers) server.closeAllConnections();
}
