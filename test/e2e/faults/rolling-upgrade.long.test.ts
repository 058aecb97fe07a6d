import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningService, startService, until } from '../../../demo/real-service.ts';
import { write } from '../../support/face.ts';
import { openSeparateWorld, type SeparateWorld } from '../../support/world.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Unpacks the previous release, which docs/upgrading.md names. Returns its program; undefined without git's history. */
async function previousRelease(folder: string): Promise<string | undefined> {
  const promise = await readFile(join(root, 'docs/upgrading.md'), 'utf8');
  const commit = /<!-- previous release: ([0-9a-f]{40}) -->/.exec(promise)?.[1];
  if (commit === undefined) throw new Error('docs/upgrading.md does not name the commit of the previous release');
  const archive = spawnSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 28 });
  if (archive.status !== 0) return undefined;
  mkdirSync(folder);
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: archive.stdout });
  if (unpacked.status !== 0) throw new Error(`tar: ${unpacked.stderr}`);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src/main.ts');
}

const dir = mkdtempSync(join(tmpdir(), 'deckhand-previous-'));
const program = await previousRelease(join(dir, 'release'));
if (program === undefined)
  process.stdout.write('Left out: the test with workers of the previous release, which needs the history of git.\n');

let world: SeparateWorld | undefined;
const workers: RunningService[] = [];
afterAll(async () => {
  for (const worker of workers) await worker.stop('SIGKILL');
  await world?.close();
  rmSync(dir, { recursive: true, force: true });
});

(program === undefined ? test.skip : test)(
  'during a rolling upgrade, workers of both versions continue the runs of each other',
  async () => {
    let asked = 0;
    let held = Promise.withResolvers<void>();
    const opened = await openSeparateWorld(
      [[write('one.txt', 'x\n')], [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }]],
      {
        before: async (turn) => {
          asked += 1;
          if (turn === 1) await held.promise;
        },
        settings: { SANDBOX: 'off' },
      },
    );
    world = opened;
    // The web process of this version has migrated the database.
    await opened.service.stop();
    opened.settings.ROLE = 'web';
    await opened.restart();
    const start = async (name: string, of?: string) => {
      const own = { ROLE: 'worker', DATA_DIR: join(dir, name) };
      const worker = await startService({ ...opened.settings, ...own }, of === undefined ? {} : { program: of });
      workers.push(worker);
      return worker;
    };
    /** Starts a run on `from`, and stops that during the second turn, once `to` works. Returns the number of the issue. */
    const handOver = async (from: RunningService, to: () => Promise<RunningService>) => {
      held = Promise.withResolvers<void>();
      const before = asked;
      const number = await opened.issue('/agent start');
      await until('the second turn', async () => {
        if (from.process.exitCode !== null) throw new Error(`the worker ended; its log:\n${from.log()}`);
        return asked === before + 2;
      });
      const next = await to();
      const stopped = from.stop();
      // The next worker asks for the same turn again.
      await until('the next worker', async () => asked === before + 3);
      held.resolve();
      await stopped;
      const task = await opened.taskIn('in_review');
      expect(from.log()).not.toMatch(/"level":[56]0/);
      const { handoffs } = await opened.get<{ handoffs: unknown[] }>(`/tasks/${task.id}/handoffs`);
      expect({ runs: task.runCount, handoffs: handoffs.length }).toEqual({ runs: 1, handoffs: 1 });
      await until('the label', async () => (await opened.labels(number)).join() === 'agent:in-review');
      return next;
    };
    const earlier = await start('earlier', program);
    const later = await handOver(earlier, () => start('later'));
    // A new version may have to be taken back, while the database stays as it is.
    await handOver(later, () => start('earlier again', program));
    const pulls = await opened.github.as('mona')<unknown[]>('GET', '/repos/mona/sample/pulls?state=all');
    expect(pulls).toHaveLength(2);
    expect(opened.github.pushes).toHaveLength(2);
  },
);
