import { join } from 'node:path';
import { startModel } from '../../demo/model/model.ts';
import { startService } from '../../demo/real-service.ts';
import { median, say } from '../figures.ts';
import { settingsWithoutApp } from '../settings.ts';
import { serve } from '../small-github.ts';
import { prepareTasks } from '../tasks.ts';
import { repositoryWith } from './repository.ts';

const rounds = 7;
const wanted = 1.2;

/** What the repository of a run asks for. Set-up leaves next to nothing, so that only the walls take time. */
const settings = { setup: 'mkdir kept', network: { setup: [] }, checks: 'true' };

const finish = [{ name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } }];
const write = { name: 'write_file', arguments: { path: 'made.txt', content: 'x\n' } };

/**
 * Measures runs with a restored environment, a command of the agent and a check, against runs without. The agent's
 * command and the check each need a sandbox, a network and a proxy of their own. The model answers immediately.
 */
export async function wallSpeed(folder: string, databaseUrl: string): Promise<void> {
  const model = await startModel(({ messages }, turn) => {
    const isWalled = JSON.stringify(messages).includes('behind all walls');
    const look = isWalled
      ? { name: 'run_command', arguments: { command: 'true' } }
      : { name: 'read_file', arguments: { path: 'README.md' } };
    return turn === 0 ? [write, look] : finish;
  });
  const files = { 'README.md': 'x\n', '.gitignore': 'kept/\n' };
  const bares: Record<string, string> = {
    'mona/plain': await repositoryWith(files, join(folder, 'plain')),
    'mona/walled': await repositoryWith(
      { ...files, '.deckhand.yml': JSON.stringify(settings) },
      join(folder, 'walled'),
    ),
  };
  const host = await serve((name) => bares[name]);
  const given = { databaseUrl, dataDir: join(folder, 'data'), hostUrl: host.url, modelUrl: model.url };
  const service = await startService(await settingsWithoutApp(given));
  try {
    const without = await prepareTasks(service, `${host.url}/mona/plain`, 'without commands');
    const behind = await prepareTasks(service, `${host.url}/mona/walled`, 'behind all walls');
    // The first run of each fills caches; that of the second sets up.
    await without();
    await behind();
    const [less, more]: [number[], number[]] = [[], []];
    for (let i = 0; i < rounds; i++) {
      less.push(await without());
      more.push(await behind());
    }
    const added = (median(more) - median(less)) / 1000;
    const seconds = (times: number[]) => (median(times) / 1000).toFixed(2);
    say(
      `walls of a run   ${added.toFixed(2)} s: ${seconds(more)} s with, ${seconds(less)} s without (at most ${wanted} s wanted)`,
    );
  } finally {
    await service.stop();
    await model.close();
    host.close();
  }
}
