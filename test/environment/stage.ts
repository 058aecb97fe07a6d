import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RepositoryRow } from '../../src/db/tables/project.ts';
import { openCleanSandbox } from '../../src/environment/clean-sandbox.ts';
import type { Environment } from '../../src/environment/environment.ts';
import { prepareEnvironment } from '../../src/environment/prepare.ts';
import { setSecret } from '../../src/environment/secrets/secrets.ts';
import type { SetupContext } from '../../src/environment/setup-context.ts';
import type { Checkout } from '../../src/git/engine.ts';
import { openCheckout } from '../../src/repositories/reader.ts';
import { noSettings } from '../../src/repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../src/repositories/settings/schema.ts';
import { openTestApp } from '../support/app.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';

export type Stage = Awaited<ReturnType<typeof openStage>>;
export type Scene = Awaited<ReturnType<Stage['begin']>>;

/** Matches the failure of a run whose environment could not be prepared. */
export const failsWith = (message: RegExp, category = 'setup') => ({
  failure: { category, message: expect.stringMatching(message) },
});

/** Opens the service and a repository, for the environments of one test file. */
export async function openStage(settings: Record<string, string> = {}) {
  const service = await openTestApp({ SANDBOX: 'auto', ALLOW_PRIVATE_HOSTS: 'true', ...settings });
  // As root, services whose data folders are private share a folder.
  const parent = mkdtempSync(join(tmpdir(), 'deckhand-kept-'));
  service.app.keptDir = join(parent, 'environments');
  const token = await service.token('octocat');
  const host = await serveSampleRepository();
  const push = (files: Record<string, string>) => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(host.work, path, '..'), { recursive: true });
      writeFileSync(join(host.work, path), content);
    }
    gitOut(host.work, 'add', '-A');
    gitOut(host.work, 'commit', '-q', '-m', 'more');
    gitOut(host.work, 'push', '-q', host.bare, 'main');
  };
  push({ '.gitignore': 'deps/\nleft\n', '.nvmrc': '24\n' });
  return {
    app: service.app,
    host,
    push,
    /** The number of files that are kept. */
    kept: () => (existsSync(service.app.keptDir) ? readdirSync(service.app.keptDir).length : 0),
    /** Opens the repository for a new project. */
    begin: async () => {
      const { body: project } = await service.call('POST', '/projects', { token, body: { name: 'One' } });
      const body = { projectId: project.id, name: 'sample', url: host.url };
      const { body: repository } = await service.call('POST', '/repositories', { token, body });
      return openScene(service.app, host.url, repository);
    },
    close: async () => {
      await service.close();
      host.close();
      rmSync(parent, { recursive: true });
    },
  };
}

/** What one test works with. Everything that it opens ends with it. */
async function openScene(app: SetupContext['app'], url: string, repository: RepositoryRow) {
  const opened: (() => Promise<unknown>)[] = [];
  const open = await openCheckout(app, { url, token: 'good-token' }, new AbortController().signal);
  opened.push(open.remove);
  const { checkout } = open;
  const log: string[] = [];
  const { projectId } = repository;
  const scene = {
    /** Sets an environment secret of the project. It belongs to its repository unless `repositories` says otherwise. */
    setSecret: (name: string, value: string, repositories?: string[]) =>
      setSecret(app, projectId, name, { value, repositories, hosts: [] }),
    checkout,
    log,
    /** The commit that environments are prepared for. */
    base: await newest(checkout),
    context: (settings: Partial<RepositorySettings>, signal = new AbortController().signal): SetupContext => ({
      app,
      repository,
      checkout,
      // Without the default hosts, for which the configuration of this machine's tools is read.
      settings: { ...noSettings, network: { setup: [], agent: [] }, ...settings },
      signal,
      note: async (type, text) => void log.push(`${type}: ${text}`),
    }),
    prepare: async (settings: Partial<RepositorySettings>, isTrial = false): Promise<Environment> => {
      const environment = await prepareEnvironment(scene.context(settings), scene.base, { isTrial });
      opened.push(environment.remove);
      return environment;
    },
    confine: async () => {
      const confinement = await app.sandbox.confine(new AbortController().signal);
      opened.push(confinement.close);
      return confinement;
    },
    /** Places an environment into a new workspace, and returns its folder. */
    placed: async (environment: Environment): Promise<string> => {
      const work = join(mkdtempSync(join(app.workDir, 'placed-')), 'work');
      await environment.placeInto(work, await scene.confine());
      return work;
    },
    /** Opens a place for checks, of the base commit or of another tree. */
    fresh: async (environment: Environment, tree?: string) => {
      const fresh = await openCleanSandbox(environment, tree ?? (await checkout.treeOf(scene.base)));
      opened.push(fresh.close);
      return fresh;
    },
    /** Goes on with what has been pushed. */
    fetch: async () => {
      scene.base = await newest(checkout);
    },
    end: async () => {
      for (const close of opened.splice(0).reverse()) await close();
    },
  };
  await checkout.checkout(scene.base);
  return scene;
}

async function newest(checkout: Checkout): Promise<string> {
  const commit = await checkout.fetch('main');
  if (commit === undefined) throw new Error('the repository has no branch main');
  return commit;
}
