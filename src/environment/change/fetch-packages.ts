import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../../sandbox/neutral-path.ts';
import type { Confinement, Machine } from '../../sandbox/sandbox.ts';
import { addRefused, openMachineWithAccess, type RefusedHost } from '../command-access.ts';
import { moveInto } from '../keep/archive.ts';
import { runCommands } from '../run-commands.ts';
import type { CommandResult, SetupContext } from '../setup-context.ts';
import { type Fetch, whileFetching } from './package-managers.ts';
import { type FilesForFetches, isOwn, otherFiles, readForFetch } from './read-manifests.ts';

/** What the fetches of a change left. */
export interface Fetched {
  failed: FailedFetch[];
  refused: RefusedHost[];
}

interface FailedFetch {
  fetch: Fetch;
  result: CommandResult;
  /** Set if it failed because code of a package would have to run: the file and why. */
  codeNeeded: string | undefined;
}

/** The most programs of Rust for which an empty file is written. */
const maxTargets = 3000;

/**
 * Fetches the packages of a change into a home folder, with the network of set-up. Each fetch runs in a folder of its own
 * that has the manifests of the change, the configuration of the base, and nothing else of the repository: whatever a
 * package manager might run, it finds no code of the change and no source to send away.
 */
export async function fetchPackages(
  context: SetupContext,
  { fetches, files }: { fetches: Fetch[]; files: FilesForFetches },
  { folder, home, confinement, seconds }: { folder: string; home: string; confinement: Confinement; seconds: number },
): Promise<Fetched> {
  const fetched: Fetched = { failed: [], refused: [] };
  const end = performance.now() + seconds * 1000;
  for (const [i, fetch] of fetches.entries()) {
    const place = join(folder, `fetch${i}`);
    const work = join(place, 'work');
    const { texts, changesGo } = await readForFetch(fetch, files);
    await writeFiles(work, fetch, { texts, files });
    await mkdir(join(place, 'git', 'objects'), { recursive: true });
    await confinement.own(work);
    // A Go that the change chooses is not downloaded.
    const variables = { ...whileFetching, ...(changesGo ? { GOTOOLCHAIN: 'local' } : {}) };
    const opened = await openMachineWithAccess(context, 'setup', {
      work,
      confinement,
      variables,
      gitDir: join(place, 'git'),
    });
    try {
      const command = fetch.folder === '' ? fetch.command : `cd ${fetch.folder} && ${fetch.command}`;
      const left = Math.max(1, (end - performance.now()) / 1000);
      const limits = { seconds: left, signal: confinement.signal, goesOn: false, secrets: [] };
      const [result] = await runCommands(context, opened.machine, [command], limits);
      if (result !== undefined && result.exitCode !== 0)
        fetched.failed.push({ fetch, result, codeNeeded: await codeNeeded(opened.machine, fetch, result) });
      fetched.refused = addRefused(fetched.refused, opened.refused());
    } finally {
      await opened.close();
    }
    await moveInto(`${work}.home`, home);
    await removeTree(place);
  }
  return fetched;
}

/** Writes the manifests of a change for one package manager, and its configuration of the base. */
async function writeFiles(
  work: string,
  { manager }: Fetch,
  { texts, files }: { texts: Map<string, string>; files: FilesForFetches },
): Promise<void> {
  await mkdir(work, { recursive: true, mode: 0o755 });
  const write = async (path: string, content: string | Buffer) => {
    try {
      await mkdir(dirname(join(work, path)), { recursive: true });
      await writeFile(join(work, path), content);
    } catch (error) {
      // The base has a file where the change has a folder, or the other way round.
      if (!['EEXIST', 'EISDIR', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  };
  for (const [path, text] of texts) await write(path, text);
  for (const [path, oid] of otherFiles(manager, files)) await write(path, files.contents.get(oid) ?? '');
  if (manager !== 'cargo') return;
  // Cargo only looks whether its targets exist.
  const targets = [...files.change.keys()].filter((path) => path.endsWith('.rs') && isOwn(path)).slice(0, maxTargets);
  for (const path of targets) await write(path, '');
}

/**
 * Says that a fetch failed because code of a package would have to run: it has no wheel, or comes from git. Returns undefined
 * if the fetch failed for another reason, such as a typing error.
 */
async function codeNeeded(
  machine: Machine,
  { manager, requirements, versions }: Fetch,
  { command, output }: CommandResult,
): Promise<string | undefined> {
  const [file = command.slice(0, 200)] = manager === 'uv' ? ['uv.lock'] : requirements;
  if (/\btransport '\w+' not allowed|\bEALLOWGIT\b/.test(output))
    return `${file}: a package comes from git, so its own scripts could run to prepare it`;
  if (manager !== 'pip' && /\bENOENT\b|\b[Nn]o such file or directory\b/.test(output))
    return `${file}: fetching its packages needs more files of the change than manifests`;
  const withoutWheel = (name: string) =>
    `${file}: there is no wheel of ${name}, so its own code would run to install it`;
  if (manager === 'uv') {
    const [, name = 'a package'] = /[Dd]istribution `?([\w.=-]+)/.exec(output) ?? [];
    return /--no-build|no (usable|compatible) wheel|no binary distribution/.test(output)
      ? withoutWheel(name)
      : undefined;
  }
  const [, name, version = ''] =
    /No matching distribution found for ([A-Za-z0-9][\w.-]*)(?:==([\w.]+))?/.exec(output) ?? [];
  if (manager !== 'pip' || name === undefined || versions === undefined) return undefined;
  // Asks the index, which runs nothing, whether it has the package at all.
  const index = await machine.run(`${versions} ${name}`, { seconds: 60 });
  const found = index.exitCode === 0 ? index.output.split(/[\s,()]+/) : [];
  return found.some((each) => version === '' || each === version) ? withoutWheel(name) : undefined;
}
