import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { commandFailed, RunFailed } from '../../domain/run.ts';
import type { Confinement } from '../../sandbox/sandbox.ts';
import { chosenOf } from '../files/choose-files.ts';
import { makeReadable } from '../keep/archive.ts';
import type { SetupPlan } from '../plan-setup.ts';
import { type Made, resultsIn, saidOf } from '../set-up.ts';
import type { SetupContext } from '../setup-context.ts';
import { SetupNeedsApproval } from './read-manifests.ts';
import { setUpWith } from './set-up-change.ts';

/** Set-up of an earlier commit failed. It had neither secrets nor the network of set-up for its own code. */
export class EarlierSetupFailed extends RunFailed {}

/** How what it needs is called where people read that it has failed. */
const without = 'an earlier commit is set up without secrets, and its own code without the network of set-up';

/**
 * Sets up an earlier commit, by the rules for a change of the trusted one: package managers fetch without its code, and its
 * commands run without secrets and without the network of set-up. Nobody may ever have seen this commit: of a pull request that
 * was merged by rebasing, people saw what all of its commits do together. Its plan decides which commands run.
 * @throws EarlierSetupFailed
 */
export async function setUpEarlier(
  context: SetupContext,
  { plan, trusted }: { plan: SetupPlan; trusted: SetupPlan },
  folder: string,
): Promise<Made> {
  const { app, checkout, settings, isOutputHidden = false } = context;
  const work = join(folder, 'work');
  for (const each of [work, `${work}.home`]) await mkdir(each, { recursive: true, mode: 0o755 });
  const tree = await checkout.treeOf(plan.commit);
  await checkout.export(tree, work);
  const files = await chosenOf(settings, await checkout.files(tree), await checkout.files(trusted.commit));
  const commands = plan.commands.map(({ command }) => command);
  const ranIn = async (confinement: Confinement) => {
    for (const each of [work, `${work}.home`]) await confinement.own(each);
    const place = { tree, folder, work, confinement, isApproved: false };
    return setUpWith({ plan: trusted, context, how: 'none' }, place, commands, files).catch((error) => {
      if (error instanceof SetupNeedsApproval)
        throw new EarlierSetupFailed('setup', `${without}: ${error.reasons.join('; ')}`);
      throw error;
    });
  };
  const confinement = await app.sandbox.confine(context.signal);
  const ran = await ranIn(confinement).finally(() => confinement.close());
  context.signal.throwIfAborted();
  if (ran.failed !== undefined) {
    const { message, output } = saidOf(ran.failed);
    const { failure } = commandFailed('setup', {
      message: `${message}; ${without}`,
      output: output ?? '',
      isOutputHidden,
    });
    throw Object.assign(new EarlierSetupFailed('setup', failure.message), { failure });
  }
  await makeReadable(folder, context.signal);
  const names = await resultsIn(context, work, tree);
  return { commands: ran.commands, refused: ran.refused, failed: [], missing: [], names, caches: undefined };
}
