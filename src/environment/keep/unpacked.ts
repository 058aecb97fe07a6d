import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeTree } from '../../sandbox/neutral-path.ts';

/** Unpacked results are in this folder of the worker's folder, beside the workspaces of runs. */
export const folderOfResults = 'results';

/** A result of set-up that this worker has unpacked. Workspaces are copied from it, and nobody changes its files. */
interface Unpacked {
  folder: string;
  /** The checksum of its archive, which tells it from an earlier result with the same key. */
  sha256: string;
  bytes: number;
  uses: number;
}

/** A use of an unpacked result. Its files stay until it is released. */
export interface HeldResult {
  folder: string;
  /** Gives the result to later runs with this key, in place of an earlier one. */
  share(key: string): Promise<void>;
  release(): Promise<void>;
}

/**
 * The results that a worker has unpacked, each once for all of its runs. Those that no run uses take at most so many bytes;
 * the least recently used are removed first. All of them are removed with the folder of the worker.
 */
class UnpackedResults {
  readonly #workDir: string;
  /** By key, the least recently used first. */
  readonly #shared = new Map<string, Unpacked>();

  constructor(workDir: string) {
    this.#workDir = workDir;
  }

  /** Creates an empty folder for a result. Only the service can enter it. */
  async folder(): Promise<string> {
    const folder = join(this.#workDir, folderOfResults, randomBytes(6).toString('hex'));
    await mkdir(folder, { mode: 0o700, recursive: true });
    return folder;
  }

  /** Takes the result of this archive if the worker has unpacked it. */
  take(key: string, sha256: string, spareBytes: number): HeldResult | undefined {
    const found = this.#shared.get(key);
    if (found?.sha256 !== sha256) return undefined;
    this.#shared.delete(key);
    this.#shared.set(key, found);
    return this.#hold(found, spareBytes);
  }

  /** Takes a result that has just been unpacked into a folder. It is removed with its last use unless it is shared. */
  async add(folder: string, sha256: string, spareBytes: number): Promise<HeldResult> {
    const { stdout } = await promisify(execFile)('du', ['-sk', '--', folder], { env: { PATH: '/usr/bin:/bin' } });
    return this.#hold({ folder, sha256, bytes: Number.parseInt(stdout, 10) * 1024, uses: 0 }, spareBytes);
  }

  #hold(result: Unpacked, spareBytes: number): HeldResult {
    result.uses += 1;
    let isReleased = false;
    return {
      folder: result.folder,
      share: async (key) => {
        const earlier = this.#shared.get(key);
        this.#shared.set(key, result);
        if (earlier?.uses === 0 && !this.#isShared(earlier)) await removeTree(earlier.folder);
      },
      release: async () => {
        if (isReleased) return;
        isReleased = true;
        result.uses -= 1;
        if (result.uses === 0 && !this.#isShared(result)) await removeTree(result.folder);
        await this.#trim(spareBytes);
      },
    };
  }

  #isShared(result: Unpacked): boolean {
    return [...this.#shared.values()].includes(result);
  }

  /** Other runs take and release results while one is removed, so each removal looks again at what nobody uses. */
  async #trim(bytes: number): Promise<void> {
    for (;;) {
      const unused = new Set([...this.#shared.values()].filter(({ uses }) => uses === 0));
      const sum = [...unused].reduce((all, each) => all + each.bytes, 0);
      const [first] = unused;
      if (first === undefined || sum <= bytes) return;
      // Nobody can take it from here on.
      for (const [key, each] of this.#shared) if (each === first) this.#shared.delete(key);
      await removeTree(first.folder);
    }
  }
}

const ofWorkers = new Map<string, UnpackedResults>();

/** Returns the unpacked results of the worker that has this folder for its workspaces. */
export function unpackedResults(workDir: string): UnpackedResults {
  const known = ofWorkers.get(workDir) ?? new UnpackedResults(workDir);
  ofWorkers.set(workDir, known);
  return known;
}
