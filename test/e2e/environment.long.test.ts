import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Said, Script } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { gitAsync } from '../support/git.ts';
import { openWorld, type World } from '../support/world.ts';

const run = promisify(execFile);
// The sandbox shows the programs below /usr.
const hasNpm = existsSync('/usr/bin/npm');
if (!hasNpm) console.warn('Environments are not tried with npm, because there is no /usr/bin/npm');

const certificates = Object.fromEntries(
  Object.entries(process.env).filter((entry): entry is [string, string] => /cert|cafile|ca_bundle/i.test(entry[0])),
);

let folder: string;
let world: World;
const script: Said[] = [];
afterAll(async () => {
  await world?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** Returns the addresses of npm's registry; none where it cannot be reached, and then only the packed dependency is used. */
async function registryAddresses(): Promise<string[]> {
  try {
    const { stdout } = await run('npm', ['config', 'get', 'registry'], { cwd: folder });
    const registry = stdout.trim();
    await fetch(new URL('is-number/7.0.0', registry), { signal: AbortSignal.timeout(10_000) });
    const found = await lookup(new URL(registry).hostname, { all: true });
    return found.map(({ address, family }) => `${address}/${family === 4 ? 32 : 128}`);
  } catch (error) {
    console.warn(`No package of npm's registry is installed: it cannot be reached (${(error as Error).message})`);
    return [];
  }
}

/** Pushes checks, and a dependency from the registry if there is one. */
async function push(hasRegistry: boolean): Promise<void> {
  const url = `${world.github.url.replace('http://', 'http://x:person-mona@')}/mona/sample.git`;
  await gitAsync(folder, 'clone', '-q', url, 'c');
  const clone = join(folder, 'c');
  const checks = ['npm test', ...(hasRegistry ? [`node -e "import('is-number').then(() => console.log(1))"`] : [])];
  writeFileSync(join(clone, '.deckhand.yml'), JSON.stringify({ checks }));
  if (hasRegistry) {
    const file = join(clone, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...manifest, dependencies: { 'is-number': '7.0.0' } }));
    await run('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], { cwd: clone });
  }
  await gitAsync(clone, 'add', '-A');
  await gitAsync(clone, 'commit', '-q', '-m', 'checks');
  await gitAsync(clone, 'push', '-q', 'origin', 'HEAD:main');
}

const tasks = () => world.get<{ id: string }[]>(`/projects/${world.project.id}/tasks`);

/** Has the agent change a file, run the tests and finish; returns the lines of the run's log. */
async function work(file: string): Promise<string[]> {
  const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
  const test = { name: 'run_command', arguments: { command: 'npm test' } };
  script.splice(
    0,
    script.length,
    [{ name: 'write_file', arguments: { path: file, content: 'made\n' } }, test],
    [finish],
    [finish],
  );
  const before = await tasks();
  await world.issue('/agent start');
  const last = await until('the end of the run', async () => {
    const task = (await tasks()).find(({ id }) => before.every((known) => known.id !== id));
    const runs = task && (await world.get<{ id: string; status: string }[]>(`/tasks/${task.id}/runs`));
    return runs?.find(({ status }) => !['queued', 'running'].includes(status));
  });
  const events = await world.get<{ type: string; text: string }[]>(`/runs/${last.id}/events`);
  return events.map(({ type, text }) => `${type}: ${text}`);
}

(hasNpm ? test : test.skip)(
  'dependencies are installed before the agent starts, work in its commands and in checks, and are restored in the next run',
  async () => {
    folder = mkdtempSync(join(tmpdir(), 'deckhand-npm-'));
    const addresses = await registryAddresses();
    world = await openWorld(script as Script, {
      seed: { hasDependency: true },
      // A registry in a private network needs the operator's consent, and perhaps a certificate.
      settings: { ...certificates, EGRESS_OPEN_ADDRESSES: addresses.join(',') },
    });
    await push(addresses.length > 0);
    const first = await work('one.txt');
    expect(first).toContain('setup: $ npm ci');
    expect(first).toContainEqual(expect.stringMatching(/^setup: npm ci: exit code 0, \d+ s$/));
    const checks = first.filter((line) => line.startsWith('check: '));
    expect(checks).toHaveLength(addresses.length > 0 ? 2 : 1);
    expect(checks.filter((line) => !line.endsWith(': passed'))).toEqual([]);
    const told = JSON.stringify(world.model.requests.at(-1)?.messages);
    expect(told).toContain('exit code 0');
    const second = await work('two.txt');
    expect(second).toContainEqual(expect.stringMatching(/^setup: restored the environment in [\d.]+ s$/));
    expect(second).not.toContain('setup: $ npm ci');
  },
);
