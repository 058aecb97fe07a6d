import { RunFailed, type RunKind, traitsOf } from '../../domain/run.ts';
import type { Checkout } from '../../git/engine.ts';
import { wholeCheckout } from '../../repositories/settings/custom-keys.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import type { PullAsk } from '../../runs/reviewing/store.ts';

/**
 * Returns the branch of a run about a pull request of somebody else. A review looks at the head that it was asked about; a
 * fix continues the branch as it is now.
 */
export async function branchOfPull(checkout: Checkout, kind: RunKind, { headBranch, headSha }: PullAsk, base: string) {
  const begins = { name: headBranch, base, continues: true };
  if (!traitsOf[kind].pushes) return { ...begins, from: headSha };
  const from = await checkout.fetch(headBranch);
  if (from === undefined) throw new RunFailed('repository', `the branch ${headBranch} no longer exists`);
  return { ...begins, from };
}

/**
 * Returns the settings for a run about a pull request. The branch of a fork is written by somebody who may do nothing in
 * this repository: its commands reach no network, its files name neither submodules nor files in Git LFS that the service
 * would fetch, and set-up of its change needs a person, unless one with write permission asked for this run. The same is
 * true of a proof of a pull request whose author may not write here.
 */
export function settingsForPull(
  settings: RepositorySettings,
  { isFork, byWriter, isForeign = false }: Pick<PullAsk, 'isFork' | 'byWriter' | 'isForeign'>,
): RepositorySettings {
  if (!isFork && !isForeign) return settings;
  return {
    ...settings,
    checkout: { ...wholeCheckout, paths: settings.checkout.paths },
    network: { ...settings.network, agent: [] },
    setupOfChange: byWriter ? settings.setupOfChange : 'approved',
  };
}
