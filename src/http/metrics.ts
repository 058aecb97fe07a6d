import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../db/database.ts';

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
  githubRequests: Counter<'outcome'>;
  githubParked: Counter;
  githubQuota: Quotas;
  breakers: Counter;
  takeovers: Counter<'cause'>;
  modelSeconds: Histogram<'model' | 'outcome'>;
  modelCost: Counter<'model'>;
  /** Runs before each scrape. A gauge whose source fails shows no value, so that no one takes an old one for the present. */
  readers: Reader[];
}

/** Gauges that are read when somebody scrapes them. */
export interface Reader {
  gauges: Gauge<string>[];
  read(): void | Promise<void>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const githubQuota = openQuotas();
  const readers = [quotaGauge(githubQuota, registers)];
  const server = ofServer(registers);
  // Otherwise the first failure would be lost to a rate, which needs a value before.
  for (const outcome of ['answered', 'failed']) server.githubRequests.inc({ outcome }, 0);
  return { registry, readers, githubQuota, ...server, ...ofRuns(registers) };
}

function ofServer(registers: Registry[]) {
  return {
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
    githubWrites: new Counter({
      name: 'deckhand_github_writes_total',
      help: 'Writes to the GitHub API',
      labelNames: ['outcome'],
      registers,
    }),
    githubRequests: new Counter({
      name: 'deckhand_github_requests_total',
      help: 'Requests to the GitHub API, with retries: answered, which refusals are, too, or failed',
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

function ofRuns(registers: Registry[]) {
  return {
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
    takeovers: new Counter({
      name: 'deckhand_takeovers_total',
      help: 'Runs that this process continued after another one: lost means that its worker did not end in order',
      labelNames: ['cause'],
      registers,
    }),
    modelSeconds: new Histogram({
      name: 'deckhand_model_seconds',
      help: 'Time until a model has answered, or failed after all retries',
      labelNames: ['model', 'outcome'],
      buckets: [0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640],
      registers,
    }),
    modelCost: new Counter({
      name: 'deckhand_model_cost_usd_total',
      help: 'Cost of answers by MODEL_PRICES',
      labelNames: ['model'],
      registers,
    }),
  };
}

function quotaGauge(quotas: Quotas, registers: Registry[]): Reader {
  const gauge = new Gauge({
    name: 'deckhand_github_quota_left_ratio',
    help: 'Smallest share of its hourly requests that an installation has left, of those asked by this process',
    registers,
  });
  return {
    gauges: [gauge],
    read: () => {
      const left = quotas.least();
      if (left !== undefined) gauge.set(left);
    },
  };
}

/** Returns the gauges of the connections of a process to its database. */
export function connectionGauges({ registry }: Metrics, connections: Database['connections']): Reader {
  const registers = [registry];
  const open = new Gauge({
    name: 'deckhand_db_connections',
    help: 'Open connections for statements, by state',
    labelNames: ['state'],
    registers,
  });
  const most = new Gauge({ name: 'deckhand_db_connections_max', help: 'The setting DB_POOL_SIZE', registers });
  const waiting = new Gauge({
    name: 'deckhand_db_waiting',
    help: 'Statements and transactions that wait for a connection',
    registers,
  });
  return {
    gauges: [open, most, waiting],
    read: () => {
      const now = connections();
      open.set({ state: 'used' }, now.used);
      open.set({ state: 'idle' }, now.idle);
      most.set(now.most);
      waiting.set(now.waiting);
    },
  };
}

/** For whom a request to GitHub is sent: the person whose request is handled, and the repository that it is about. */
interface Asker {
  person?: string | undefined;
  repository?: string | undefined;
  /** Whether it helps to take back what a check run says. */
  isUrgent?: boolean | undefined;
  /** Whether it is about something that a stranger did. */
  isOfStranger?: boolean | undefined;
}

/** How much of its requests each installation has left. */
interface Quotas {
  /** Takes note of the headers of an answer. */
  note(installationId: number, headers: Record<string, string | number | undefined>, asker?: Asker): void;
  /**
   * Returns how long, in milliseconds, further requests have to wait because little is left and the asker has used much of it;
   * undefined if they may go on. A person waits if less than half is left and they have used a tenth. Work in the background waits
   * if less than a fifth is left, or a tenth when it is urgent, and a quarter of the requests of this process were about its repository.
   * What strangers did waits once they have used a tenth in its repository, or three tenths in all.
   */
  pauseOf(installationId: number, asker: Asker, resource?: 'core' | 'graphql'): number | undefined;
  /** The smallest share that is left until its hour ends; undefined if no installation was asked in this hour. */
  least(): number | undefined;
}

/** What an installation has left of one kind of requests, and who has used how many. */
interface Quota {
  ratio: number;
  endsAt: number;
  limit: number;
  /** The requests of this process in this hour. */
  total: number;
  used: Map<string, number>;
}

/** The share of an hour's requests from which on persons who use much have to wait, and what counts as much. */
const [scarce, much] = [0.5, 0.1];

/** The share that is left for repositories that use little, and the part of it that no other may use even if it is urgent. */
const [reserved, untouched] = [0.2, 0.1];
/** Beyond this share of the requests of a process a repository uses much. One with fewer than `few` of the limit never does. */
const [large, few] = [0.25, 0.02];

/** The share of an hour's requests that strangers may cause in one repository, and in all. */
const [ofStrangers, ofAllStrangers] = [0.1, 0.3];
const strangers = 'strangers';

/** Beyond this many installations the one noted first is forgotten until its next answer. */
const maxQuotas = 10_000;

/** Calls without a token, which have a negative number, are no installation's. */
const isOfNone = (key: string) => key.startsWith('-');

export function openQuotas(now: () => number = Date.now): Quotas {
  const all = new Map<string, Quota>();
  return {
    note: (installationId, headers, asker = {}) => {
      const rate = readRate(headers);
      if (rate === undefined) return;
      // GraphQL and others have a budget of their own.
      const key = `${installationId} ${headers['x-ratelimit-resource'] ?? ''}`;
      const before = all.get(key);
      const { endsAt } = rate;
      // GitHub's servers do not always agree on the second.
      const isSame = before !== undefined && Math.abs(before.endsAt - endsAt) < 60_000;
      const { total, used } = isSame ? before : { total: 0, used: new Map<string, number>() };
      for (const name of namesOf(asker)) used.set(name, (used.get(name) ?? 0) + 1);
      all.delete(key);
      all.set(key, { ...rate, total: total + 1, used });
      const [oldest] = all.keys();
      if (all.size > maxQuotas && oldest !== undefined) all.delete(oldest);
    },
    pauseOf: (installationId, asker, resource = 'core') => {
      const known = all.get(`${installationId} ${resource}`);
      if (known === undefined || known.endsAt <= now()) return undefined;
      return hasUsedUp(known, asker) ? known.endsAt - now() : undefined;
    },
    least: () => {
      const valid = [...all]
        .filter(([key, { endsAt }]) => endsAt > now() && !isOfNone(key))
        .map(([, { ratio }]) => ratio);
      return valid.length === 0 ? undefined : Math.min(...valid);
    },
  };
}

/** Under which names the requests for an asker are counted. */
function namesOf({ person, repository, isOfStranger }: Asker): string[] {
  const ofStranger = isOfStranger ? [strangers, `${strangers} ${repository}`] : [];
  return [person, repository, ...ofStranger].filter((name) => name !== undefined);
}

function readRate(headers: Record<string, string | number | undefined>) {
  const [limit = 0, left = 0, reset = 0] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers[`x-ratelimit-${name}`]),
  );
  if (!limit || !Number.isFinite(left) || !reset) return undefined;
  return { ratio: left / limit, endsAt: reset * 1000, limit };
}

function hasUsedUp({ ratio, limit, total, used }: Quota, asker: Asker): boolean {
  const { person, repository, isUrgent, isOfStranger } = asker;
  const usedBy = (name: string) => used.get(name) ?? 0;
  const own = usedBy(person ?? repository ?? '');
  if (isOfStranger)
    return usedBy(strangers) >= limit * ofAllStrangers || usedBy(`${strangers} ${repository}`) >= limit * ofStrangers;
  if (person !== undefined) return ratio < scarce && own >= limit * much;
  return ratio < (isUrgent ? untouched : reserved) && own >= Math.max(limit * few, total * large);
}

function clear(gauge: Gauge<string>): void {
  gauge.reset();
  // A gauge without labels is 0 after a reset.
  gauge.remove({});
}

/** A scrape ends after ten seconds by default. What takes longer is left out of it. */
const readMs = 3000;

/** Returns the metrics as text, after it has read those that are read for each scrape. */
export async function scrape({ registry, readers }: Metrics): Promise<string> {
  await Promise.all(
    readers.map(async ({ gauges, read }) => {
      for (const gauge of gauges) clear(gauge);
      await Promise.race([Promise.resolve().then(read), sleep(readMs, undefined, { ref: false })]).catch(() => {});
    }),
  );
  return registry.metrics();
}

/** More connections are refused. A scraper and the probes of an orchestrator need a few. */
const maxConnections = 50;

/**
 * Serves `/metrics`, and `/healthz` and `/readyz` for processes that serve nothing else. `isReady` returns `ok`, or
 * what is wrong. Rejects if the address cannot be used.
 */
export function serveMetrics(
  metrics: Metrics,
  { METRICS_HOST, METRICS_PORT }: { METRICS_HOST: string; METRICS_PORT: number },
  isReady: () => Promise<string>,
): Promise<Server> {
  const pages = new Map<string | undefined, () => Promise<Page>>([
    ['/metrics', async () => ({ status: 200, type: metrics.registry.contentType, body: await scrape(metrics) })],
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
