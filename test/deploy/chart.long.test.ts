import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-checker';
import { readConfig, secretSettings } from '../../src/config.ts';
import { lackOfGo, type Manifest, renderChart, renderWithGo } from './chart.ts';

const root = join(import.meta.dirname, '../..');
const image = { repository: 'registry.example.org/deckhand' };
const plain = { image };
/** Everything that can be switched on. */
const full = {
  image: { ...image, digest: `sha256:${'0'.repeat(64)}` },
  imagePullSecrets: [{ name: 'pull' }],
  settings: { BASE_URL: 'https://deckhand.example.org', APP_ID: '1', MAX_RUNS_PER_PROJECT: '3', DRAIN_SECONDS: '20' },
  secrets: { settings: ['JWT_SECRET', 'ENCRYPTION_KEY', 'PRIVATE_KEY', 'WEBHOOK_SECRET', 'OPENAI_API_KEY'] },
  workers: {
    gpu: {
      runsOn: ['GPU', 'linux'],
      minReplicas: 0,
      nodeSelector: { pool: 'gpu' },
      tolerations: [{ key: 'gpu', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
      podAnnotations: { team: 'agents' },
    },
  },
  web: { data: { storageClassName: 'fast' }, podAnnotations: { team: 'agents' } },
  autoscaling: { enabled: true, connection: { secretName: 'keda', key: 'url' } },
  ingress: {
    enabled: true,
    host: 'deckhand.example.org',
    className: 'nginx',
    tlsSecretName: 'certificate',
    annotations: { 'example.org/buffering': 'off' },
  },
  networkPolicy: {
    webFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
    metricsFrom: [{ podSelector: {} }],
    databaseTo: [{ podSelector: { matchLabels: { 'cnpg.io/cluster': 'deckhand-db' } } }],
    extraEgress: [{ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] }],
  },
  monitoring: { serviceMonitor: true, rules: true, dashboard: true, labels: { release: 'prometheus' } },
};
const variants = [
  plain,
  full,
  { ...full, stopped: true },
  { ...plain, sandbox: { enabled: false }, networkPolicy: { enabled: false }, workers: { default: { replicas: 3 } } },
];

/** Where the schema and the type of a manifest are. */
function moduleOf({ apiVersion }: Manifest): string {
  if (apiVersion.startsWith('keda.sh/')) return `@kubernetes-models/keda/${apiVersion}`;
  if (apiVersion.startsWith('monitoring.coreos.com/')) return `@kubernetes-models/prometheus-operator/${apiVersion}`;
  return `kubernetes-models/${apiVersion}`;
}

test('all objects fit the schemas of Kubernetes, KEDA and the Prometheus operator', async () => {
  const kinds = new Set<string>();
  for (const values of variants)
    for (const manifest of renderChart(values)) {
      const models = await import(moduleOf(manifest));
      expect(() => new models[manifest.kind](manifest).validate()).not.toThrow();
      kinds.add(manifest.kind);
    }
  expect([...kinds].sort()).toEqual([
    ...['ConfigMap', 'Deployment', 'Ingress', 'Job', 'NetworkPolicy', 'PodDisruptionBudget', 'PrometheusRule'],
    ...['ScaledObject', 'Service', 'ServiceMonitor', 'TriggerAuthentication'],
  ]);
});

/** Checks the types of a source, which does not exist as a file. */
function problemsOf(source: string): string[] {
  const file = join(root, 'test/deploy/rendered.ts');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, target, ...more) =>
    name === file ? ts.createSourceFile(name, source, target) : getSourceFile(name, target, ...more);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** The objects as TypeScript, which refuses fields that a type does not have; the schemas allow them. */
function typed(manifests: Manifest[]): string {
  return manifests
    .map((manifest, i) => {
      const type = `I${manifest.kind}`;
      return `import type { ${type} as T${i} } from '${moduleOf(manifest)}';\nexport const m${i}: T${i} = ${JSON.stringify(manifest)};`;
    })
    .join('\n');
}

test('no object has a field that its kind does not know', () => {
  const manifests = variants.slice(0, 2).flatMap((values) => renderChart(values));
  const wrong = structuredClone(manifests.find(({ kind }) => kind === 'Deployment')) as Manifest;
  wrong.spec.template.spec.containers[0].securityContext.readOnlyRootFileSystem = true;
  // What the check is worth: this name has one letter wrong. Kubernetes would ignore it.
  expect(problemsOf(typed([...manifests, wrong]))).toEqual([
    expect.stringMatching(/'"?readOnlyRootFileSystem"?' does not exist/),
  ]);
});

test('Go renders the same from the templates', () => {
  const lack = lackOfGo();
  if (lack !== undefined) {
    process.stdout.write(`Left out: the comparison of the chart with Go's own templates, because ${lack}.\n`);
    return;
  }
  expect(renderWithGo(variants)).toEqual(variants.map((values) => renderChart(values)));
});

const podsOf = (manifests: Manifest[]) =>
  manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
    .map(({ metadata, spec }) => {
      const [container] = spec.template.spec.containers;
      return { name: metadata.name, spec: spec.template.spec, labels: spec.template.metadata.labels, container };
    });

test('every pod runs without rights: not as root, with a read-only root, and no token of Kubernetes', () => {
  for (const values of variants)
    for (const { name, spec, container } of podsOf(renderChart(values))) {
      const { securityContext: rights, volumes } = spec;
      const data = volumes.find((volume: { name: string }) => volume.name === 'data');
      expect([name, { ...rights, ...spec, ...container.securityContext }]).toEqual([
        name,
        expect.objectContaining({
          runAsNonRoot: true,
          hostUsers: false,
          automountServiceAccountToken: false,
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        }),
      ]);
      expect(rights.seccompProfile.type).toMatch(/^(Localhost|RuntimeDefault)$/);
      expect(data.emptyDir?.sizeLimit ?? data.ephemeral.volumeClaimTemplate.spec.resources.requests.storage).toMatch(
        /Gi$/,
      );
      // Only the sandbox of workers needs to see all of /proc.
      const isWorker = name.includes('-worker-') && values !== variants[3];
      expect([name, container.securityContext.procMount]).toEqual([name, isWorker ? 'Unmasked' : undefined]);
    }
});

/** The settings of a container, with stand-ins for the contents of its files. */
function settingsOf(container: { env: { name: string; value: string }[] }): Record<string, string> {
  const standIns: Record<string, string> = {
    DATABASE_URL: 'postgres://deckhand@db/deckhand',
    JWT_SECRET: 'x'.repeat(32),
    ENCRYPTION_KEY: '0'.repeat(64),
    WEBHOOK_SECRET: 'x'.repeat(32),
    OPENAI_API_KEY: 'key',
  };
  return Object.fromEntries(
    container.env
      .filter(({ name }) => !['APP_ID', 'PRIVATE_KEY_FILE'].includes(name))
      .map(({ name, value }) =>
        name.endsWith('_FILE') ? [name.slice(0, -5), standIns[name.slice(0, -5)] ?? ''] : [name, value],
      ),
  );
}

test('the service understands the settings of every pod, and only the job changes tables', () => {
  const configs = podsOf(renderChart(full)).map(({ name, container }) => {
    const config = readConfig(settingsOf(container));
    expect(config.DATABASE_URL).toBeDefined();
    const { ROLE, MIGRATE, SANDBOX, METRICS_HOST, RUNS_ON, MAX_CONCURRENT_RUNS, BASE_URL } = config;
    return [name, ROLE, MIGRATE, SANDBOX, METRICS_HOST, RUNS_ON, MAX_CONCURRENT_RUNS, BASE_URL];
  });
  const url = 'https://deckhand.example.org';
  expect(configs).toEqual([
    ['deckhand-migrate', 'all', 'on', 'off', '127.0.0.1', [], 4, url],
    ['deckhand-web', 'web', 'off', 'off', '0.0.0.0', [], 4, url],
    ['deckhand-worker-default', 'worker', 'off', 'bwrap', '0.0.0.0', [], 4, url],
    ['deckhand-worker-gpu', 'worker', 'off', 'bwrap', '0.0.0.0', ['gpu', 'linux'], 4, url],
  ]);
});

test('each secret is a file of a Secret that the operator made, and each file is mounted', () => {
  for (const { spec, container } of podsOf(renderChart(full))) {
    const [{ projected }] = spec.volumes;
    const paths = projected.sources.flatMap(({ secret }: Manifest) => secret.items.map(({ path }: Manifest) => path));
    const files = container.env.filter(({ name }: { name: string }) => name.endsWith('_FILE'));
    expect(files.map(({ value }: { value: string }) => value)).toEqual(
      paths.map((path: string) => `/etc/deckhand/${path}`),
    );
    expect(files.map(({ name }: { name: string }) => name.slice(0, -5)).sort()).toEqual(
      ['DATABASE_URL', ...full.secrets.settings].sort(),
    );
  }
  const source = readFileSync(join(root, 'deploy/chart/templates/_pod.tpl'), 'utf8');
  const known = /\{\{ list ((?:"[A-Z_]+" ?)+)\| join/.exec(source)?.[1] ?? '';
  expect([...known.matchAll(/[A-Z_]+/g)].map(String).sort()).toEqual([...secretSettings].sort());
});

test('the migration is a hook that needs nothing else of the chart, and selectors find their pods', () => {
  const manifests = renderChart(full);
  const job = manifests.find(({ kind }) => kind === 'Job');
  expect(job?.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
  const owned = manifests.filter(({ kind }) => ['ConfigMap', 'Secret', 'ServiceAccount'].includes(kind));
  for (const { metadata } of owned) expect(JSON.stringify(job)).not.toContain(`"${metadata.name}"`);
  const pods = podsOf(manifests);
  const found = (labels: Record<string, string>) =>
    pods
      .filter((pod) => Object.entries(labels).every(([name, value]) => pod.labels[name] === value))
      .map(({ name }) => name);
  for (const { kind, metadata, spec } of manifests)
    if (['Deployment', 'PodDisruptionBudget'].includes(kind))
      expect(found(spec.selector.matchLabels)).toEqual([metadata.name]);
  const services = manifests.filter(({ kind }) => kind === 'Service');
  expect(services.map(({ spec }) => found(spec.selector).length)).toEqual([4, 1]);
});

test('pods reach names, the database and the internet; the migration has no internet, and no one reaches workers', () => {
  const policies = renderChart(plain).filter(({ kind }) => kind === 'NetworkPolicy');
  const [all, web, metrics, internet] = policies.map(({ spec }) => spec);
  expect(all.ingress).toBeUndefined();
  expect(all.egress.flatMap(({ ports }: Manifest) => ports.map(({ port }: Manifest) => port))).toEqual([53, 53, 5432]);
  expect([web.podSelector.matchLabels['app.kubernetes.io/component'], web.ingress[0].ports[0].port]).toEqual([
    'web',
    'http',
  ]);
  expect(metrics.ingress).toEqual([{ ports: [{ port: 'metrics', protocol: 'TCP' }] }]);
  expect(internet.podSelector.matchExpressions[0]).toMatchObject({ operator: 'NotIn', values: ['migrate'] });
  // The metadata of clouds, with the credentials of nodes.
  expect(internet.egress[0].to[0].ipBlock.except).toContain('169.254.0.0/16');
});

test('with `stopped` no process is left, neither by replicas nor by the autoscaler', () => {
  const manifests = renderChart({ ...full, stopped: true });
  const counts = manifests.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.replicas);
  expect(counts).toEqual([0, 0, 0]);
  const scaled = manifests.filter(({ kind }) => kind === 'ScaledObject');
  const paused = { 'autoscaling.keda.sh/paused-replicas': '0' };
  expect(scaled.map(({ metadata }) => metadata.annotations)).toEqual([paused, paused]);
});

test.each<[object, RegExp]>([
  [{}, /image\.repository is required/],
  [{ ...plain, settings: { OPENAI_API_KEY: 'x' } }, /OPENAI_API_KEY is a secret; put it into the Secret deckhand/],
  [{ ...plain, settings: { ROLE: 'all' } }, /the chart sets ROLE itself/],
  [{ ...plain, settings: { MAX_RUN_TOKENS: 2_000_000 } }, /settings\/MAX_RUN_TOKENS must be string/],
  [{ ...plain, secrets: { settings: ['JWT_SECRET', 'ENCRYPTION_KEY', 'BASE_URL'] } }, /BASE_URL is no secret setting/],
  [{ ...plain, secrets: { settings: ['JWT_SECRET'] } }, /secrets\/settings must contain/],
  [{ ...plain, workers: { default: { replicas: 0 } } }, /somebody has to do the jobs/],
  [
    { ...plain, autoscaling: { enabled: true }, workers: { default: { minReplicas: 0 } } },
    /somebody has to do the jobs/,
  ],
  [{ ...plain, workers: { default: { runsOnn: [] } } }, /must NOT have additional properties/],
  [{ ...plain, ingress: { enabled: true } }, /ingress\.host is required/],
])('values that cannot work are refused: %j', (values, why) => {
  expect(() => renderChart(values as Record<string, unknown>)).toThrow(why);
});
