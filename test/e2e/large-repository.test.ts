import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../src/demo/real-service.ts';
import { gitAsync, gitOut } from '../support/git.ts';
import { testSome } from '../support/thorough.ts';
import { openSeparateWorld, type SeparateWorld } from '../support/world.ts';

const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };

let world: SeparateWorld;
beforeAll(async () => {
  world = await openSeparateWorld([[write], [finish]], { settings: { SANDBOX: 'off' } });
  await grow(world.github.folderOf('mona/sample'));
});
afterAll(() => world.close());

/** Pushes 100 MB that cannot be compressed. */
async function grow(bare: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-large-'));
  gitOut(bare, 'config', 'core.compression', '0');
  await gitAsync(folder, 'clone', '-q', '-c', 'core.compression=0', bare, '.');
  for (let i = 0; i < 5; i++) writeFileSync(join(folder, `${i}.bin`), randomBytes(20_000_000));
  await gitAsync(folder, 'add', '-A');
  await gitAsync(folder, 'commit', '-q', '-m', 'large');
  await gitAsync(folder, 'push', '-q', 'origin', 'main');
  rmSync(folder, { recursive: true, force: true });
}

testSome(1, [['native'], ['isomorphic']])(
  'with a repository of 100 MB the service stays under 600 MB (%s)',
  async (engine) => {
    await world.service.stop();
    world.settings.GIT_ENGINE = engine;
    await world.restart();
    const number = await world.issue('/agent start');
    await until('its review', async () => (await world.labels(number)).includes('agent:in-review'));
    const { branchName } = await world.taskIn('in_review');
    expect(gitOut(world.github.folderOf('mona/sample'), 'diff', '--name-only', `main...${branchName}`)).toBe(
      'made.txt',
    );
    const status = readFileSync(`/proc/${world.service.process.pid}/status`, 'utf8');
    const mostMb = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    expect(mostMb).toBeLessThan(600);
  },
);
