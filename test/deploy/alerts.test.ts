import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { App } from '../../src/app.ts';
import { connectionGauges, createMetrics } from '../../src/http/metrics.ts';
import { figuresOfDatabase } from '../../src/worker/lease/figures.ts';

const root = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const rules = read('deploy/prometheus/deckhand.yaml');
const dashboard = read('deploy/grafana/deckhand.json');

/** The names of all metrics of the program, with those that Prometheus makes of a histogram. */
async function namesOfProgram(): Promise<Set<string>> {
  const metrics = createMetrics();
  connectionGauges(metrics, () => ({ used: 0, idle: 0, waiting: 0, most: 1 }));
  figuresOfDatabase({ metrics } as App, 'worker');
  const all = await metrics.registry.getMetricsAsJSON();
  // prom-client declares the type as a number and returns a word.
  const parts = (type: unknown) => (type === 'histogram' ? ['', '_bucket', '_count', '_sum'] : ['']);
  return new Set(all.flatMap(({ name, type }) => parts(type).map((part) => `${name}${part}`)));
}

const namesIn = (text: string) => [
  ...new Set([...text.matchAll(/\b(?:deckhand|nodejs|process)_[a-z0-9_]+/g)].map(String)),
];

test('the program has every metric that rules and dashboard name', async () => {
  const known = await namesOfProgram();
  const named = [...namesIn(rules), ...namesIn(dashboard)];
  expect(named.length).toBeGreaterThan(25);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('every metric of ours is shown on the dashboard and described', async () => {
  const own = [...(await namesOfProgram())].filter((name) => /^deckhand_.*(?<!_bucket|_count|_sum)$/.test(name));
  const described = read('docs/operations.md');
  const shown = namesIn(dashboard).map((name) => name.replace(/_(bucket|count|sum)$/, ''));
  const missing = own.filter((name) => !shown.includes(name) || !described.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});

test('every alert fires in a test of promtool, says what to do, and stays silent on an ordinary day', () => {
  const { groups } = parse(rules) as { groups: { rules: { alert: string; annotations: Record<string, string> }[] }[] };
  const alerts = groups.flatMap((group) => group.rules);
  const { tests } = parse(read('deploy/prometheus/deckhand.test.yaml')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
  };
  const tried = (fires: boolean) =>
    new Set(
      tests
        .flatMap((each) => each.alert_rule_test)
        .filter(({ exp_alerts }) => exp_alerts.length > 0 === fires)
        .map(({ alertname }) => alertname),
    );
  const names = alerts.map(({ alert }) => alert).sort();
  expect([...tried(true)].sort()).toEqual(names);
  expect([...tried(false)].sort()).toEqual(names);
  const described = read('docs/kubernetes.md');
  expect(names.filter((name) => !described.includes(`\`${name}\``))).toEqual([]);
  for (const { annotations } of alerts) expect(Object.keys(annotations)).toEqual(['summary', 'description']);
});

test('promtool accepts the rules, and their tests pass', () => {
  if (spawnSync('promtool', ['--version']).error !== undefined) {
    process.stdout.write(
      'Left out: the tests of the alerts, because promtool is not installed (Debian: prometheus).\n',
    );
    return;
  }
  const { status, stdout, stderr } = spawnSync(
    'promtool',
    ['test', 'rules', join(root, 'deploy/prometheus/deckhand.test.yaml')],
    { encoding: 'utf8' },
  );
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
});
