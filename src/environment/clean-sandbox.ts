import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../sandbox/neutral-path.ts';
import type { Confinement, Machine } from '../sandbox/sandbox.ts';
import { putBackPushedFiles } from './change/pushed-files.ts';
import { setUpChange } from './change/set-up-change.ts';
import { addRefused, openMachineWithAccess, type RefusedHost, startAll } from './command-access.ts';
import type { Environment } from './environment.ts';
import type { CommandResult } from './setup-context.ts';

/** A sandbox for the checks of a change. No agent has touched it. */
export interface CleanSandbox {
  machine: Machine;
  /** Aborted when the place ends, with the reason. */
  signal: AbortSignal;
  /** The configured set-up command that failed, if the change made set-up run again. */
  failed: CommandResult | undefined;
  /** The hosts that commands tried to reach and may not. */
  refused(): RefusedHost[];
  /** Ends everything and removes the files. */
  close(): Promise<void>;
}

/**
 * Opens a new sandbox with the files of a tree, its own user and home folder, and the environment as set-up left it. If the tree
 * changes a file that set-up depends on, set-up runs again in this sandbox, and its result is discarded with it. Files of the tree that
 * set-up overwrites are restored. `isApproved` says that a person allowed this set-up to use the network of set-up.
 * @throws SetupNeedsApproval
 */
export async function openCleanSandbox(
  environment: Environment,
  tree: string,
  isApproved = false,
): Promise<CleanSandbox> {
  const { context } = environment;
  const { app, checkout } = context;
  const folder = join(app.workDir, randomBytes(6).toString('hex'));
  const work = join(folder, 'work');
  const removeFolder = () =>
    removeTree(folder).catch((error) => app.log.warn({ err: error, folder }, 'could not remove a fresh workspace'));
  await mkdir(folder, { recursive: true, mode: 0o711 });
  let confinement: Confinement | undefined;
  try {
    await mkdir(work, { mode: 0o755 });
    await checkout.export(tree, work);
    confinement = await app.sandbox.confine(context.signal);
    const place = { tree, folder, work, confinement, isApproved };
    const { commands, failed, refused } = await setUpChange(environment, place);
    if (commands.length > 0 && failed === undefined) {
      // Ends whatever set-up has started.
      await confinement.close();
      confinement = undefined;
      await putBackPushedFiles(context, { tree, folder, work });
      confinement = await app.sandbox.confine(context.signal);
      for (const each of [work, `${work}.home`]) await confinement.own(each);
    }
    const { close, signal } = confinement;
    const opened = await openMachineWithAccess(context, 'agent', { work, confinement });
    await startAll(context, async () => opened.machine, signal).catch(async (error) => {
      await opened.close();
      throw error;
    });
    return {
      machine: opened.machine,
      signal,
      failed,
      refused: () => addRefused(refused, opened.refused()),
      close: async () => {
        await opened.close();
        await close();
        // Thousands of files take seconds, and the next place is another folder.
        environment.removeLater(folder);
      },
    };
  } catch (error) {
    await confinement?.close();
    await removeFolder();
    throw error;
  }
}
