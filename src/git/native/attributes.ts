import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkout, GitFailed } from '../engine.ts';
import { UnfitWorkTree } from '../work-tree/read-inside.ts';
import { inPortions } from '../work-tree/tree-files.ts';
import { git } from './run-git.ts';

/** The time limit for matching all paths. Ordinary patterns take 3 s for 500,000 paths; a hostile one would take forever. */
const patienceSeconds = 20;
const tooSlow = 'the .gitattributes files take too long to evaluate; simplify or remove their patterns';

/**
 * Finds the files for which the .gitattributes files of a tree choose the filter of Git LFS. In the checkout's own git folder
 * all filters are off, so `folder` becomes another one that shares its objects.
 */
export class LfsAttributes {
  readonly #objects: string;
  readonly #folder: string;
  readonly #signal: AbortSignal;
  #begun: Promise<unknown> | undefined;

  readonly #seconds: number;

  /** `seconds` is the time limit for the patterns of all paths. */
  constructor(gitDir: string, folder: string, signal: AbortSignal, seconds = patienceSeconds) {
    this.#seconds = seconds;
    this.#objects = join(gitDir, 'objects');
    this.#folder = folder;
    this.#signal = signal;
  }

  /**
   * Returns those of the paths that Git LFS stores, by the attributes of the tree.
   * @throws UnfitWorkTree when the patterns take too long
   */
  async trackedOf(tree: string, paths: string[]): Promise<Set<string>> {
    this.#begun ??= this.#begin();
    await this.#begun;
    if (paths.length === 0) return new Set();
    const env = { GIT_INDEX_FILE: join(this.#folder, `${tree}.index`) };
    const run = (args: string[], input?: Iterable<string>) =>
      git([`--git-dir=${this.#folder}`, ...args], {
        env,
        signal: this.#signal,
        limitSeconds: this.#seconds,
        ...(input === undefined ? {} : { input }),
      });
    if (!existsSync(env.GIT_INDEX_FILE))
      await run(['-c', 'core.protectHFS=false', '-c', 'core.protectNTFS=false', 'read-tree', tree]);
    const asked = ['check-attr', '--cached', '-z', '--stdin', 'filter'];
    const output = await run(asked, endedByNull(paths)).catch((error) => {
      this.#signal.throwIfAborted();
      throw error instanceof GitFailed && error.message.includes('took more than') ? new UnfitWorkTree(tooSlow) : error;
    });
    const found = new Set<string>();
    await inPortions(recordsIn(output), ({ path, value }) => {
      if (value === 'lfs') found.add(path.toString('utf8'));
    });
    return found;
  }

  async #begin(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await git(['init', '--quiet', '--bare', this.#folder], { signal: this.#signal });
    await mkdir(join(this.#folder, 'objects/info'), { recursive: true });
    await writeFile(join(this.#folder, 'objects/info/alternates'), `${this.#objects}\n`);
  }
}

/** Writes paths for git, in parts of a few milliseconds. */
function* endedByNull(paths: string[]): Generator<string> {
  for (let at = 0; at < paths.length; at += pathsOfPart) yield `${paths.slice(at, at + pathsOfPart).join('\0')}\0`;
}

const pathsOfPart = 1000;

/** Parses `<path>\0<attribute>\0<value>\0…`. There may be half a million. */
function* recordsIn(output: Buffer) {
  for (let at = 0; at < output.length; ) {
    const afterPath = output.indexOf(0, at);
    const afterName = output.indexOf(0, afterPath + 1);
    const end = output.indexOf(0, afterName + 1);
    if (end < 0) return;
    yield { path: output.subarray(at, afterPath), value: output.toString('latin1', afterName + 1, end) };
    at = end + 1;
  }
}

/** Makes git take files for unchanged, so that `git status` in the sandbox does not list files whose contents are not pointers. */
export async function assumeUnchanged(
  { gitDir, workTree }: Checkout,
  paths: string[],
  signal: AbortSignal,
): Promise<void> {
  if (paths.length === 0) return;
  const args = [
    `--git-dir=${gitDir}`,
    `--work-tree=${workTree}`,
    'update-index',
    '-z',
    '--assume-unchanged',
    '--stdin',
  ];
  await git(args, { input: endedByNull(paths), signal });
}
