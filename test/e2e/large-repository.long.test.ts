import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { until } from '../../demo/real-service.ts';
import { gitOut, gitWith } from '../support/git.ts';
import { testSome } from '../support/thorough.ts';
import { openSeparateWorld, type SeparateWorld } from '../support/world.ts';

const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };

let world: SeparateWorld;
beforeAll(async () => {
  world = await openSeparateWorld([[write], [finish]], { settings: { SANDBOX: 'off', GIT_ENGINE: 'native' } });
  await grow(world.github.folderOf('mona/sample'));
  await world.github.showBranches('mona/sample');
});
afterAll(() => world.close());

/** Commits 100 MB that cannot be compressed. */
async function grow(bare: string): Promise<void> {
  gitOut(bare, 'config', 'core.compression', '0');
  const files: string[] = [];
  for (let i = 0; i < 5; i++) {
    const oid = gitWith(bare, randomBytes(20_000_000), 'hash-object', '-w', '--stdin');
    files.push(`100644 blob ${oid}\t${i}.bin\n`);
    // These commands block the event loop. Connections that the emulator closed meanwhile must not be used again.
    await setImmediate();
  }
  const tree = gitWith(bare, `${gitOut(bare, 'ls-tree', 'main')}\n${files.join('')}`, 'mktree');
  const commit = gitOut(bare, 'commit-tree', tree, '-p', 'main', '-m', 'large');
  gitOut(bare, 'update-ref', 'refs/heads/main', commit);
  await setImmediate();
}

testSome(1, [['native'], ['isomorphic']])(
  'with a repository of 100 MB the service stays under 600 MB (%s)',
  async (engine) => {
    if (world.settings.GIT_ENGINE !== engine) {
      await world.service.stop();
      world.settings.GIT_ENGINE = engine;
      await world.restart();
    }
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
