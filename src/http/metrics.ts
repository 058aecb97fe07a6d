import { createServer, type Server } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of the service, for Prometheus. */
export interface Metrics {
  registry: Registry;
  requests: Histogram<'method' | 'route' | 'status'>;
  deliveries: Counter<'event' | 'outcome'>;
  runs: Counter<'status' | 'category'>;
  runSeconds: Histogram;
  setups: Counter<'outcome'>;
  setupSeconds: Histogram<'outcome'>;
  liveRuns: Gauge;
  githubWrites: Counter<'outcome'>;
  githubParked: Counter;
  breakers: Counter;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    requests: new Histogram({
      name: 'deckhand_http_request_seconds',
      help: 'Time to answer requests to the REST API',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.02, 0.05, 0.1, 0.5, 2, 10],
      registers,
    }),
    deliveries: new Counter({
      name: 'deckhand_webhook_deliveries_total',
      help: 'Webhook deliveries received',
      labelNames: ['event', 'outcome'],
      registers,
    }),
    runs: new Counter({
      name: 'deckhand_runs_total',
      help: 'Runs ended',
      labelNames: ['status', 'category'],
      registers,
    }),
    runSeconds: new Histogram({
      name: 'deckhand_run_seconds',
      help: 'Time that one worker spent on a run',
      buckets: [1, 5, 15, 60, 300, 900, 1800, 3600],
      registers,
    }),
    setups: new Counter({
      name: 'deckhand_setups_total',
      help: 'Environments prepared for runs and trials',
      labelNames: ['outcome'],
      registers,
    }),
    setupSeconds: new Histogram({
      name: 'deckhand_setup_seconds',
      help: 'Time to prepare an environment',
      labelNames: ['outcome'],
      buckets: [0.5, 1, 2, 5, 15, 60, 300, 1200],
      registers,
    }),
    liveRuns: new Gauge({ name: 'deckhand_live_runs', help: 'Runs that this process is working on', registers }),
    githubWrites: new Counter({
      name: 'deckhand_github_writes_total',
      help: 'Writes to the GitHub API',
      labelNames: ['outcome'],
      registers,
    }),
    githubParked: new Counter({
      name: 'deckhand_github_parked_total',
      help: 'Number of times GitHub asked the service to wait',
      registers,
    }),
    breakers: new Counter({
      name: 'deckhand_breakers_tripped_total',
      help: 'Issues whose updates were paused because of too many changes in a short time',
      registers,
    }),
  };
}

/** More connections are refused. A scraper and the probes of an orchestrator need a few. */
const maxConnections = 50;

/**
 * Serves `/metrics`, and `/healthz` and `/readyz` for processes that serve nothing else. `isReady` returns `ok`, or
 * what is wrong. Rejects if the address cannot be used.
 */
export function serveMetrics(
  { registry }: Metrics,
  { METRICS_HOST, METRICS_PORT }: { METRICS_HOST: string; METRICS_PORT: number },
  isReady: () => Promise<string>,
): Promise<Server> {
  const pages = new Map<string | undefined, () => Promise<Page>>([
    ['/metrics', async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() })],
    ['/healthz', async () => ofStatus(200, 'ok')],
    [
      '/readyz',
      async () => {
        const status = await isReady().catch((error: Error) => error.message);
        return ofStatus(status === 'ok' ? 200 : 503, status);
      },
    ],
  ]);
  const server = createServer(async ({ url = '' }, res) => {
    const page = pages.get(url.split('?', 1)[0]);
    const { status, type, body } = (await page?.()) ?? ofStatus(404, 'no such address');
    res.writeHead(status, { 'Content-Type': type }).end(body);
  });
  server.maxConnections = maxConnections;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(METRICS_PORT, METRICS_HOST, () => resolve(server));
  });
}

interface Page {
  status: number;
  type: string;
  body: string;
}

function ofStatus(code: number, status: string): Page {
  return { status: code, type: 'application/json', body: JSON.stringify({ status }) };
}
