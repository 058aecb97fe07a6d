import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { RunFailed } from '../../domain/run.ts';
import { hostsOf } from '../../environment/command-access.ts';
import type { Environment } from '../../environment/environment.ts';
import { chooseFiles } from '../../environment/files/choose-files.ts';
import { prepareEnvironment } from '../../environment/prepare.ts';
import type { SetupContext } from '../../environment/setup-context.ts';
import type { Checkout, Remote } from '../../git/engine.ts';
import { findTriedItem, type TrialItem } from '../../lab/trial-store.ts';
import { openCheckout } from '../../repositories/reader.ts';
import { readBase } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import type { Journal } from '../../runs/journal.ts';

/** What the run of a trial begins with. */
export interface TrialBeginning {
  item: TrialItem;
  settings: RepositorySettings;
  /** The commit whose files prepare the environment, when the run began. Runs that an older version began lack it. */
  head?: string | undefined;
}

/**
 * Reads what the run of a trial begins with. The settings are those of the default branch, as for every run, and they are
 * read in another folder: what is fetched into the workspace can be read by the agent.
 * @throws RunFailed `internal` when nobody knows what is tried
 */
export async function readBeginning(
  app: App,
  { run, repository }: { run: { id: string }; repository: RepositoryRow },
  { journal, remote, signal }: { journal: Journal; remote: Remote; signal: AbortSignal },
): Promise<TrialBeginning> {
  const tried = await findTriedItem(app.db.manager, run.id);
  if (tried === undefined) throw new RunFailed('internal', 'nobody knows which item this run tries');
  const begun = async (): Promise<Begun> => {
    const { checkout, remove } = await openCheckout(app, remote, signal);
    try {
      const { settings, branch, trusted } = await readBase(checkout, { repository, remote });
      return { settings: await settingsOfTrial(app, settings, repository), branch, head: trusted };
    } finally {
      await remove();
    }
  };
  const { settings, branch, head } = await journal.once('settings', begun);
  return { item: tried.item, settings: { ...settings, base: branch }, head };
}

type Begun = Pick<TrialBeginning, 'settings' | 'head'> & { branch: string };

/**
 * Prepares the environment of a trial in another folder than the workspace, because that takes the newest commit, which the
 * agent must not see: nobody may have seen the commit of the item, so its own set-up gets no secrets.
 */
export async function prepareForTrial(
  given: SetupContext,
  { item: { baseSha }, settings, head }: TrialBeginning,
  { remote, isNeeded }: { remote: Remote; isNeeded: boolean },
): Promise<Environment> {
  const { app, signal, readers } = given;
  if (!isNeeded) return prepareEnvironment(given, baseSha, { isNeeded });
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    const newest = await checkout.fetch(settings.base ?? given.repository.defaultBranch);
    const trusted = head !== undefined && (await checkout.fetchCommit(head)) ? head : newest;
    if (trusted === undefined || !(await checkout.fetchCommit(baseSha)))
      throw new RunFailed('repository', `the commit ${baseSha}, from which the item begins, no longer exists`);
    await chooseFiles(checkout, { app, remote, settings, signal, readers });
    // A narrow checkout knows by it which files it leaves out.
    if (settings.checkout.paths.length > 0) await checkout.checkout(trusted);
    const environment = await prepareEnvironment({ ...given, checkout }, baseSha, { trusted });
    return { ...environment, context: { ...environment.context, checkout: given.checkout } };
  } finally {
    await remove();
  }
}

/**
 * Places the commit from which the item begins, without anything that came later: neither history nor refs, nor objects that
 * are in a cache.
 */
export async function placeTrial(
  checkout: Checkout,
  { item, settings }: TrialBeginning,
  { defaultBranch }: Pick<RepositoryRow, 'defaultBranch'>,
) {
  const base = item.baseSha;
  if (!(await checkout.fetchCommit(base)))
    throw new RunFailed('repository', `the commit ${base}, from which the item begins, no longer exists`);
  await checkout.checkout(base);
  return {
    branch: { name: 'trial', from: base, base, continues: false },
    settings,
    baseBranch: settings.base ?? defaultBranch,
    baseHead: base,
    trustedHead: base,
    setupFrom: base,
    startTree: await checkout.treeOf(base),
  };
}

/**
 * Returns the settings for trials: commands do not reach the host of the repository, where the solution is, and nobody is
 * asked to allow anything.
 */
async function settingsOfTrial(
  app: App,
  settings: RepositorySettings,
  repository: RepositoryRow,
): Promise<RepositorySettings> {
  const closed = closedHosts([repository.url, app.config.GITHUB_SERVER_URL, app.config.GITHUB_API_URL]);
  const listed = await hostsOf({ app, settings }, 'agent');
  const isAll = listed.every((host) => !closed(host));
  const agent = isAll ? settings.network.agent : listed.filter((host) => !closed(host));
  return { ...settings, network: { ...settings.network, agent }, plan: 'never', push: 'free' };
}

/** The hosts from which GitHub serves what is in repositories. */
const ofGitHub = ['github.com', 'githubusercontent.com', 'githubassets.com', 'github.dev', 'githubapp.com', 'ghcr.io'];

/** Returns whether commands of a trial may not reach a host, or a pattern of hosts such as `*.example.com`. */
export function closedHosts(urls: string[]): (host: string) => boolean {
  const domains = [...ofGitHub, ...urls.map((url) => new URL(url).hostname.toLowerCase())];
  return (listed) => {
    const host = listed.toLowerCase().replace(/^\*\./, '').replace(/:\d+$/, '');
    return domains.some(
      (domain) =>
        host === domain || host.endsWith(`.${domain}`) || (listed.startsWith('*.') && domain.endsWith(`.${host}`)),
    );
  };
}
