import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../sandbox/remove-tree.ts';
import type { Confinement, Machine } from '../sandbox/sandbox.ts';
import { detectSetup } from './detect.ts';
import { addRefused, openEquipped, type RefusedHost } from './equipment.ts';
import { cacheFilesIn } from './plan-setup.ts';
import type { Environment } from './prepare.ts';
import type { CommandResult } from './room.ts';
import { runCommands } from './run-commands.ts';
import { setupSeconds } from './set-up.ts';
import { startAll } from './start-services.ts';

/** A sandbox for the checks of a change. No agent has touched it. */
export interface FreshPlace {
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
 * Opens a new sandbox with the files of a tree, its own user and home folder, and the environment as set-up left it. If
 * the tree changes a file that decides whether set-up runs again, set-up runs there on the change, with its network but
 * without secrets, and the result is discarded.
 */
export async function openFresh(environment: Environment, tree: string): Promise<FreshPlace> {
  const { room } = environment;
  const { app, checkout } = room;
  const folder = join(app.workDir, randomBytes(6).toString('hex'));
  const work = join(folder, 'work');
  const removeFolder = () =>
    removeTree(folder).catch((error) => app.log.warn({ err: error, folder }, 'could not remove a fresh workspace'));
  await mkdir(folder, { recursive: true, mode: 0o711 });
  let confinement: Confinement | undefined;
  try {
    await mkdir(work, { mode: 0o755 });
    await checkout.export(tree, work);
    confinement = await app.sandbox.confine(room.signal);
    const { failed, refused } = await furnish(environment, { tree, work, confinement });
    const { close, signal } = confinement;
    const equipped = await openEquipped(room, 'agent', { work, confinement });
    await startAll(room, async () => equipped.machine, signal).catch(async (error) => {
      await equipped.close();
      throw error;
    });
    return {
      machine: equipped.machine,
      signal,
      failed,
      refused: () => addRefused(refused, equipped.refused()),
      close: async () => {
        await equipped.close();
        await close();
        await removeFolder();
      },
    };
  } catch (error) {
    await confinement?.close();
    await removeFolder();
    throw error;
  }
}

interface Furnished {
  failed: CommandResult | undefined;
  refused: RefusedHost[];
}

/** Puts the environment into the place, or makes a new one for the change. Returns what went wrong. */
async function furnish(
  environment: Environment,
  { tree, work, confinement }: { tree: string; work: string; confinement: Confinement },
): Promise<Furnished> {
  const { plan, room } = environment;
  const { checkout, settings, note } = room;
  const files = await checkout.files(tree);
  if (isSame(await cacheFilesIn(files, settings.cache), plan.files)) {
    await environment.placeInto(work, confinement);
    await confinement.own(work);
    return { failed: undefined, refused: [] };
  }
  await confinement.own(work);
  const commands = plan.isDetected ? detectSetup(files.keys()) : plan.commands;
  if (commands.length === 0) return { failed: undefined, refused: [] };
  await note('setup', 'the change alters files that decide about set-up, so set-up runs again for the checks');
  const equipped = await openEquipped(room, 'setup', { work, confinement });
  try {
    const how = { seconds: setupSeconds, signal: confinement.signal, goesOn: plan.isDetected, secrets: [] };
    const results = await runCommands(
      room,
      equipped.machine,
      commands.map(({ command }) => command),
      how,
    );
    const failed = plan.isDetected ? undefined : results.find(({ exitCode }) => exitCode !== 0);
    return { failed, refused: equipped.refused() };
  } finally {
    await equipped.close();
  }
}

function isSame(a: Map<string, string>, b: Map<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, oid]) => b.get(path) === oid);
}
