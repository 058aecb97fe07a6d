import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { neededServices } from '../../src/environment/draft/needed-services.ts';
import type { Environment } from '../../src/environment/environment.ts';
import { startServices } from '../../src/sandbox/machine/machine.ts';
import { failsWith, openStage, type Scene, type Stage } from './stage.ts';

let stage: Stage;
let scene: Scene;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  scene = await stage.begin();
});
afterEach(() => scene.end());

test('services run beside the agent and the checks; one that is not up fails with its output', async () => {
  const server = `node -e "require('node:http').createServer((_, res) => res.end('served')).listen(8123)"`;
  const ask = `node -e "fetch('http://localhost:8123').then((r) => r.text()).then(console.log)"`;
  const environment = await scene.prepare({ services: [{ run: server, port: 8123 }] });
  expect(environment.told).toContain('(port 8123)');
  const fresh = await scene.fresh(environment);
  expect((await fresh.machine.run(ask, { seconds: 200 })).output).toBe('served\n');
  const broken = await scene.prepare({ services: [{ run: 'echo cannot listen; exit 1', port: 8123 }] });
  await expect(scene.fresh(broken)).rejects.toMatchObject(failsWith(/cannot listen/));
});

// The programs of Debian's packages. Where one is not installed, nothing can be tried.
test.each([
  ['postgresql', '/usr/lib/postgresql', 5432, 'psql -h localhost -U app -tAc "select 1" kept'],
  ['redis-server', '/usr/bin/redis-server', 6379, 'redis-cli ping'],
  ['mariadb-server', '/usr/sbin/mariadbd', 3306, 'mariadb -h 127.0.0.1 -u any kept -e "select 1"'],
])('%s starts as a draft says it, and again on what it left behind', async (_name, program, port, ask) => {
  if (!existsSync(program)) return;
  const database = ['POSTGRES_DB', 'MYSQL_DATABASE'].map((name): [string, string] => [name, 'kept']);
  const image = { 5432: 'postgres', 3306: 'mariadb' }[port] ?? '';
  const compose = [{ name: 'db', image, variables: [['POSTGRES_USER', 'app'] as [string, string], ...database] }];
  const needed = neededServices([`connect ECONNREFUSED 127.0.0.1:${port}`], compose);
  const services = needed.services.map(({ run }) => ({ run: `PATH=/usr/bin:/bin; ${run}`, port }));
  expect(services).toHaveLength(1);
  const fresh = await scene.fresh(await scene.prepare({ services }));
  const answer = () => fresh.machine.run(ask, { seconds: 200 });
  expect(await answer()).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^(1|PONG)/) });
  await fresh.machine.endCommands();
  expect(await startServices(fresh.machine, services, { signal: fresh.signal })).toBeUndefined();
  expect(await answer()).toMatchObject({ exitCode: 0 });
});

const treeWith = async (files: Record<string, string>) => {
  for (const [path, content] of Object.entries(files)) writeFileSync(join(scene.checkout.workTree, path), content);
  return scene.checkout.snapshot();
};

describe('a fresh place', () => {
  const settings = { setup: ['mkdir deps && cp .nvmrc deps/version && echo "secret: $NPM_TOKEN" >> deps/version'] };

  const looksLike = async (environment: Environment, tree: string, command: string) => {
    const fresh = await scene.fresh(environment, tree);
    const { output } = await fresh.machine.run(command, { seconds: 200 });
    return { output, failed: fresh.failed };
  };

  test('has the change, the environment as set-up left it, and nothing of the agent', async () => {
    const environment = await scene.prepare({ ...settings, env: { MODE: 'check' } });
    const work = await scene.placed(environment);
    writeFileSync(join(work, 'deps/version'), 'changed by the agent');
    const tree = await treeWith({ 'README.md': 'changed\n' });
    writeFileSync(join(scene.checkout.workTree, 'left'), 'ignored');
    const { output } = await looksLike(environment, tree, 'cat README.md deps/version; echo $MODE; ls; ls -A ~');
    expect(output).toMatch(/^changed\n24\nsecret: \ncheck\nREADME.md\ndeps\n/);
    expect(output).not.toContain('left');
  });

  test('is set up again where the change alters a file that decides about set-up; nothing of that is kept', async () => {
    await scene.setSecret('NPM_TOKEN', 'canary of the set-up');
    const named = {
      ...settings,
      secrets: ['NPM_TOKEN'],
      setup: settings.setup.map((c) => `${c}; sed -i /canary/d deps/version`),
    };
    const environment = await scene.prepare({ ...named, env: { MODE: 'check' } });
    const before = stage.kept();
    const { output } = await looksLike(environment, await treeWith({ '.nvmrc': '26\n' }), 'cat deps/version');
    expect(output).toBe('26\nsecret: \n');
    expect(stage.kept()).toBe(before);
    const failing = { ...named, setup: ['grep 24 .nvmrc'] };
    const fine = await scene.prepare({ ...failing, env: { MODE: 'check' } });
    const { failed } = await looksLike(fine, await treeWith({ '.nvmrc': '27\n' }), 'true');
    expect(failed).toMatchObject({ command: 'grep 24 .nvmrc', exitCode: 1 });
  });
});
