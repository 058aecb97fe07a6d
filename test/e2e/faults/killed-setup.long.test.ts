import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningService, startService, until } from '../../../demo/real-service.ts';
import { gitAsync } from '../../support/git.ts';
import { processesWith, untilNoneHas } from '../../support/machine/processes.ts';
import { openWorld, type World } from '../../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'deckhand-setup-'));
const dataDir = join(folder, 'data');
let world: World | undefined;
let killed: RunningService | undefined;
afterAll(async () => {
  await killed?.stop('SIGKILL');
  await world?.close();
  rmSync(folder, { recursive: true });
});

/** How long set-up would sleep, which occurs in no other process's arguments on this machine. */
const mark = `6${process.pid}`;

/** Waits until set-up sleeps, and returns the process. */
const sleeping = () => until('set-up', async () => processesWith(`sleep\0${mark}`)[0]);

async function push(files: Record<string, string>, url: string): Promise<void> {
  const clone = join(folder, 'clone');
  await gitAsync(folder, 'clone', '-q', `${url.replace('http://', 'http://x:person-mona@')}/mona/sample.git`, clone);
  for (const [path, content] of Object.entries(files)) writeFileSync(join(clone, path), content);
  await gitAsync(clone, 'add', '-A');
  await gitAsync(clone, 'commit', '-q', '-m', 'set-up');
  await gitAsync(clone, 'push', '-q', 'origin', 'HEAD:main');
}

test('a worker killed during set-up and one stopped after it lose nothing, double nothing, and leave nothing half made', async () => {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  const finish = [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];
  // As root, a service whose data folder is private shares a folder with others.
  chmodSync(folder, 0o711);
  world = await openWorld([[{ name: 'write_file', arguments: { path: 'a.txt', content: 'a\n' } }], finish, finish], {
    before: async () => {
      asked += 1;
      await held.promise;
    },
    settings: { DATA_DIR: dataDir },
  });
  const setup = `mkdir deps && touch deps/half && { sleep ${mark} || mv deps/half deps/whole; } 2> /dev/null`;
  const settings = { setup, network: { setup: [] }, checks: 'ls deps && test -e deps/whole -a ! -e deps/half' };
  await push({ '.gitignore': 'deps/\n', '.deckhand.yml': JSON.stringify(settings) }, world.github.url);
  const restartAs = async ({ service, settings, restart }: World, role: string) => {
    await service.stop();
    settings.ROLE = role;
    await restart();
  };
  await restartAs(world, 'web');
  killed = await startService({ ...world.settings, ROLE: 'worker' });
  await world.issue('/agent start');

  await sleeping();
  await killed.stop('SIGKILL');
  await world.sql(`update runs set lease_until = now() where status = 'running'`, []);
  await untilNoneHas(mark);
  expect(readdirSync(dataDir)).not.toContain('environments');

  await restartAs(world, 'all');
  process.kill(await sleeping());
  await until('the first turn of the model', async () => asked === 1);
  const kept = readdirSync(join(dataDir, 'environments')).sort();
  expect(kept).toEqual([
    expect.stringMatching(/^[0-9a-f]{64}\.json$/),
    expect.stringMatching(/^[0-9a-f]{64}\.tar\.zst$/),
  ]);
  await restartAs(world, 'all');
  held.resolve();
  const task = await world.taskIn('in_review');
  expect(task).toMatchObject({ runCount: 1, failure: null });
  const [run] = await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const events = await world.get<{ type: string; text: string }[]>(`/runs/${run?.id}/events`);
  const lines = events.filter(({ type }) => ['setup', 'check'].includes(type)).map(({ text }) => text);
  expect(lines).toEqual([
    `$ ${setup}`,
    `$ ${setup}`,
    expect.stringMatching(/: exit code 0, \d+ s$/),
    expect.stringMatching(/^restored the environment in [\d.]+ s$/),
    expect.stringMatching(/: passed$/),
  ]);
  expect(readdirSync(join(dataDir, 'environments')).sort()).toEqual(kept);
  const pulls = await world.github.as('mona')<unknown[]>('GET', '/repos/mona/sample/pulls?state=all');
  expect(pulls).toHaveLength(1);
});
