import { type ChildProcess, spawn } from 'node:child_process';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { exposeToOom } from '../../host/own-process.ts';
import { cleanEnvironment } from '../clean-environment.ts';
import { listFolder, UnfitWorkTree } from './read-inside.ts';
import type { TreeEntry } from './tree-files.ts';
import { foldersOf } from './tree-files.ts';

/** Decides whether the .gitignore files of a work tree ignore a path. */
export interface IgnoreRules {
  /**
   * Returns whether the path is ignored.
   * @throws Error when the rules cannot be evaluated; the caller must not treat that as "not ignored"
   */
  ask(path: string): Promise<boolean>;
  close(): void;
}

/** Time limit for all paths of one snapshot. A whole work tree takes seconds; a hostile pattern takes forever. */
const patienceMs = 20_000;
const tooSlow = 'the .gitignore files take too long to evaluate or cannot be read; simplify or remove their patterns';

/**
 * Runs `git check-ignore`, which reads the .gitignore files and executes nothing. It gets no index, so it enters no
 * submodule. Paths start with `./`, so no name is interpreted as pathspec syntax.
 */
export function gitIgnoreRules(gitDir: string, workTree: string): IgnoreRules {
  const args = [
    `--git-dir=${gitDir}`,
    `--work-tree=${workTree}`,
    'check-ignore',
    '--no-index',
    '-z',
    '--stdin',
    '-v',
    '-n',
  ];
  const env = { ...cleanEnvironment(undefined), GIT_INDEX_FILE: `${gitDir}/no-such-index` };
  let child: ChildProcess | undefined;
  const asked = pending(() => child?.kill('SIGKILL'));
  const start = () => {
    const started = spawn('git', args, { cwd: workTree, env, stdio: ['pipe', 'pipe', 'ignore'] });
    exposeToOom(started.pid);
    started.once('error', asked.fail);
    // When the process is out of file descriptors, spawn returns no process and no streams; `error` is emitted
    // afterwards.
    if (started.stdin === undefined) return started;
    // Writing to a process that has ended fails; `close` follows.
    started.stdin.on('error', () => {});
    started.once('close', asked.fail);
    started.stdout.setEncoding('utf8').on('data', answersIn(asked.answer));
    return started;
  };
  const ask = (path: string) =>
    asked.add(() => {
      // Started for the first path, because most snapshots contain no new files.
      child ??= start();
      child.stdin?.write(`./${path}\0`);
    });
  return { ask, close: asked.close };
}

/**
 * Returns a function that reads the output of `git check-ignore -v -n -z`. Each result has four fields, source, line, pattern
 * and path, each terminated by NUL. An empty pattern means that no pattern matched. A pattern that starts with `!` means that
 * the path is not ignored.
 */
function answersIn(answer: (isIgnored: boolean) => void) {
  let rest = '';
  return (chunk: string) => {
    const parts = (rest + chunk).split('\0');
    while (parts.length > 4) {
      const [, , pattern = ''] = parts.splice(0, 4);
      answer(pattern !== '' && !pattern.startsWith('!'));
    }
    rest = parts.join('\0');
  };
}

/** Evaluates the rules with isomorphic-git, in a separate thread, so that a hostile pattern blocks nothing else. */
export function isomorphicIgnoreRules(gitDir: string, workTree: string): IgnoreRules {
  const worker = new Worker(new URL('./ignore-worker.mjs', import.meta.url), {
    workerData: { gitdir: gitDir, dir: workTree },
  });
  const asked = pending(() => void worker.terminate());
  worker.on('message', asked.answer);
  worker.once('error', asked.fail);
  worker.once('exit', asked.fail);
  return { ask: (path) => asked.add(() => worker.postMessage(path)), close: asked.close };
}

/**
 * Matches results to requests by their order. All pending requests fail when the evaluating process or thread ends or
 * is too slow.
 */
function pending(stop: () => void) {
  const waiting: { resolve: (isIgnored: boolean) => void; reject: (error: Error) => void }[] = [];
  let isOver = false;
  const fail = () => {
    isOver = true;
    clearTimeout(timer);
    for (const { reject } of waiting.splice(0)) reject(new Error(tooSlow));
  };
  const timer = setTimeout(() => {
    stop();
    fail();
  }, patienceMs);
  return {
    add: (send: () => void) =>
      new Promise<boolean>((resolve, reject) => {
        if (isOver) return reject(new Error(tooSlow));
        waiting.push({ resolve, reject });
        send();
      }),
    answer: (isIgnored: boolean) => waiting.shift()?.resolve(isIgnored),
    fail,
    close: () => {
      stop();
      fail();
    },
  };
}

/** Folders and files to look at besides those that git ignores. */
const maxNames = 500_000;
/** Paths to ask about together, because each answer takes a moment. A path has at most 4,096 characters. */
const askedAtOnce = 500;

interface Looking {
  workTree: string;
  /** The files that git tracks, by path. They are not ignored, whatever the rules say. */
  base: Map<string, TreeEntry>;
  isIgnored(path: string): Promise<boolean>;
  signal?: AbortSignal | undefined;
}

/**
 * Returns the paths that git ignores in a work tree. For an ignored folder, returns only the path of the folder, unless
 * the rule matches the files in it.
 * @throws UnfitWorkTree, or the reason of the signal
 */
export async function ignoredPaths({ workTree, base, isIgnored, signal }: Looking): Promise<string[]> {
  const folders = await foldersOf(base);
  const found: string[] = [];
  let left = maxNames;
  const look = async (folder: string): Promise<void> => {
    signal?.throwIfAborted();
    const entries = await listFolder(join(workTree, folder), {
      name: folder || 'the workspace',
      isTracked: folder === '' || folders.has(folder),
      most: left,
      tooMany: () => new UnfitWorkTree(`the workspace has more than ${maxNames} files and folders`),
    });
    left -= entries.length;
    for (let at = 0; at < entries.length; at += askedAtOnce) {
      signal?.throwIfAborted();
      await lookAtAll(folder, entries.slice(at, at + askedAtOnce));
    }
  };
  const lookAtAll = async (folder: string, entries: Dirent[]): Promise<void> => {
    const untracked = entries.filter(({ name }) => name.toLowerCase() !== '.git');
    const paths = untracked.map(({ name }) => (folder === '' ? name : `${folder}/${name}`));
    const answers = await Promise.all(paths.map((path) => !base.has(path) && !folders.has(path) && isIgnored(path)));
    for (const [i, entry] of untracked.entries()) {
      const path = paths[i] ?? '';
      if (answers[i]) found.push(path);
      else if (entry.isDirectory() && base.get(path)?.mode !== '160000') await look(path);
    }
  };
  await look('');
  return found;
}
