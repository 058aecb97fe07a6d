import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../../app.ts';
import { removeTree } from '../../sandbox/neutral-path.ts';
import type { Confinement } from '../../sandbox/sandbox.ts';
import { copyInto, moveInto, type Packed, pack, unpack } from './archive.ts';
import { type HeldResult, unpackedResults } from './unpacked.ts';

export type EnvironmentFiles = Awaited<ReturnType<typeof openFiles>>;

/** Opens the folder in which the environment of one run is prepared. Its name is random, like that of a workspace. */
export async function openFiles({ workDir, config, log }: App) {
  const folder = join(workDir, randomBytes(6).toString('hex'));
  const [making, archive] = [join(folder, 'making'), join(folder, 'kept.tar.zst')];
  const results = unpackedResults(workDir);
  /** What unpacked results may take that no run uses. */
  const spareBytes = (config.ENVIRONMENT_CACHE_GB * 1e9) / 4;
  let held: HeldResult | undefined;
  /** Removals that nobody waits for while the run goes on. */
  const removals: Promise<void>[] = [];
  const removeLater = (path: string) =>
    void removals.push(
      removeTree(path).catch((error) => log.warn({ err: error, folder: path }, 'could not remove an environment')),
    );
  await mkdir(folder, { recursive: true, mode: 0o711 });
  /** Makes a result with files in a new folder, which is removed if that fails. */
  const unpackWith = async <T extends Packed>(fill: (unpacked: string) => Promise<T>): Promise<T> => {
    const unpacked = await results.folder();
    try {
      const packed = await fill(unpacked);
      held = await results.add(unpacked, packed.sha256, spareBytes);
      return packed;
    } catch (error) {
      await removeTree(unpacked);
      throw error;
    }
  };
  return {
    archive,
    making,
    removeLater,
    /** Takes a result that this worker has unpacked. Returns false if there is none. */
    takeUnpacked: (key: string, sha256: string): boolean => {
      held = results.take(key, sha256, spareBytes);
      return held !== undefined;
    },
    unpack: async (kept: Packed, signal: AbortSignal): Promise<void> => {
      await unpackWith(async (unpacked) => {
        await unpack(archive, kept, unpacked, signal);
        return kept;
      });
    },
    /** Packs these results of set-up, and unpacks them for the run. */
    pack: (names: string[], signal: AbortSignal): Promise<Packed> =>
      unpackWith((unpacked) => pack(making, names, { archive, unpacked }, signal)),
    /** Gives what was unpacked to later runs with this key. */
    share: async (key: string): Promise<void> => held?.share(key),
    clear: () => removeTree(archive),
    /** Removes what set-up made, except its result. */
    discard: () => removeLater(making),
    /** Copies the result into a workspace and its home folder, and gives it to a user. */
    placeInto: async (workTree: string, confinement: Pick<Confinement, 'own'>, signal: AbortSignal): Promise<void> => {
      if (held === undefined) return;
      const staged = join(folder, randomBytes(6).toString('hex'));
      // Nobody but the service enters it until its files belong to a run.
      await mkdir(staged, { mode: 0o700 });
      try {
        await copyInto(held.folder, staged, signal);
        const [work, home] = [join(staged, 'work'), join(staged, 'work.home')];
        await mkdir(work, { recursive: true });
        await moveInto(work, workTree);
        await moveInto(home, `${workTree}.home`);
      } finally {
        await removeTree(staged);
      }
      for (const each of [workTree, `${workTree}.home`]) await confinement.own(each);
    },
    remove: async (): Promise<void> => {
      await Promise.all(removals);
      await held?.release().catch((error) => log.warn({ err: error }, 'could not remove an unpacked environment'));
      await removeTree(folder).catch((error) => log.warn({ err: error, folder }, 'could not remove an environment'));
    },
  };
}
