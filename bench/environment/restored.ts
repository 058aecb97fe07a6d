import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../../src/app.ts';
import { compose } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import type { RepositoryRow } from '../../src/db/tables/project.ts';
import { prepareEnvironment } from '../../src/environment/prepare.ts';
import type { SetupContext } from '../../src/environment/setup-context.ts';
import { createLogger } from '../../src/logger.ts';
import { openCheckout } from '../../src/repositories/reader.ts';
import { noSettings } from '../../src/repositories/settings/repository-settings.ts';
import { removeTree } from '../../src/sandbox/neutral-path.ts';
import { median, say } from '../figures.ts';
import { settingsWithoutApp } from '../settings.ts';
import { serve } from '../small-github.ts';
import { doorTo } from './outside.ts';
import { registryHost } from './packages.ts';
import type { Registry } from './registry.ts';
import { repositoryWith } from './repository.ts';

const rounds = 5;
const wanted = 0.3;

/**
 * Measures how long a later run waits for its environment, until the files are in its workspace, against the time that
 * the commands of set-up took.
 */
export async function restoreSpeed(folder: string, databaseUrl: string, registry: Registry): Promise<void> {
  // The sandbox shows the programs below /usr.
  if (!existsSync('/usr/bin/npm')) return void say('set-up           skipped, because there is no /usr/bin/npm');
  const bare = await repositoryWith(registry.files, folder);
  const host = await serve(() => bare);
  const dataDir = join(folder, 'data');
  const given = { databaseUrl, dataDir, hostUrl: host.url, modelUrl: host.url };
  const config = readConfig(await settingsWithoutApp(given));
  await mkdir(dataDir);
  // Otherwise the service, if it is root, would choose another folder.
  await chmod(dataDir, 0o711);
  const stop = new AbortController();
  const composed = await compose(config, createLogger(config), { isWorker: true, stopping: stop.signal });
  const { app } = composed;
  app.egress = doorTo(registry.port);
  try {
    const { setUp, restored } = await measured(app, `${host.url}/mona/large`);
    const seconds = `ready after ${median(restored).toFixed(2)} s, set-up took ${median(setUp).toFixed(1)} s`;
    const share = (median(restored) / median(setUp)).toFixed(2);
    say(
      `a later run      ${seconds} for ${registry.megabytes.toFixed(0)} MB: ${share} of it (at most ${wanted} wanted)`,
    );
  } finally {
    await composed.close();
    host.close();
  }
}

async function measured(app: App, url: string): Promise<{ setUp: number[]; restored: number[] }> {
  const { signal } = new AbortController();
  const { checkout, remove } = await openCheckout(app, { url, token: 'any' }, signal);
  const commit = (await checkout.fetch('main')) ?? '';
  const context: SetupContext = {
    app,
    repository: { id: 'repo_bench', projectId: 'proj_bench' } as RepositoryRow,
    checkout,
    settings: { ...noSettings, network: { setup: [registryHost], agent: [] } },
    signal,
    note: async () => {},
  };
  const times: { setUp: number[]; restored: number[] } = { setUp: [], restored: [] };
  for (let i = 0; i < rounds; i++) {
    const first = await readyIn(context, commit, { isTrial: true });
    times.setUp.push(first.setUp);
    times.restored.push((await readyIn(context, commit)).seconds);
  }
  await remove();
  return times;
}

/** Prepares the environment of a run and places it into a workspace. Returns how long that and set-up took. */
async function readyIn(context: SetupContext, commit: string, how?: { isTrial: boolean }) {
  const work = join(await mkdtemp(join(context.app.workDir, 'run-')), 'work');
  const confinement = await context.app.sandbox.confine(context.signal);
  const began = performance.now();
  const environment = await prepareEnvironment(context, commit, how);
  await environment.placeInto(work, confinement);
  const seconds = (performance.now() - began) / 1000;
  if (environment.how !== (how ? 'set up' : 'restored'))
    throw new Error(`the environment was ${environment.how}: ${environment.commands.at(-1)?.output}`);
  await environment.remove();
  await confinement.close();
  await removeTree(join(work, '..'));
  return { seconds, setUp: environment.commands.reduce((sum, command) => sum + command.seconds, 0) };
}
