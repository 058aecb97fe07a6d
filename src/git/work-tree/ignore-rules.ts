import { spawn } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { exposeToOom } from '../../host/oom-score.ts';
import { cleanEnvironment } from '../native/run-git.ts';

/** Answers whether the .gitignore files of a work tree ignore a path. */
export interface IgnoreRules {
  /** @throws Error when the rules cannot be evaluated. The path must then not count as "not ignored". */
  ask(path: string): Promise<boolean>;
  close(): void;
}

/** Time for all questions of one reading. A whole work tree takes seconds; a hostile pattern takes forever. */
const patienceMs = 20_000;
const tooSlow = 'the .gitignore files take too long to evaluate or cannot be read; simplify or remove their patterns';

/**
 * Asks `git check-ignore`, which reads the .gitignore files and runs nothing. Without an index it knows of no submodule
 * that it would enter, and after `./` no name can be mistaken for special pathspec syntax.
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
  const child = spawn('git', args, { cwd: workTree, env, stdio: ['pipe', 'pipe', 'ignore'] });
  exposeToOom(child.pid);
  const asked = pending(() => child.kill('SIGKILL'));
  let rest = '';
  child.once('error', asked.fail);
  // With too many files open spawn gives neither a process nor streams; `error` follows.
  if (child.stdin === undefined) return { ask: () => asked.add(() => {}), close: asked.close };
  // A write to a process that has ended; `close` follows.
  child.stdin.on('error', () => {});
  child.once('close', asked.fail);
  // Each answer consists of source, line, pattern and path, each ended by NUL. An empty pattern means that none matched,
  // and one that starts with `!` makes the path not ignored.
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\0');
    while (parts.length > 4) {
      const [, , pattern = ''] = parts.splice(0, 4);
      asked.answer(pattern !== '' && !pattern.startsWith('!'));
    }
    rest = parts.join('\0');
  });
  return { ask: (path) => asked.add(() => child.stdin.write(`./${path}\0`)), close: asked.close };
}

/** The same with isomorphic-git, in its own thread, so that a hostile pattern stalls nothing else. */
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

/** Matches answers to questions by their order. All questions fail when the answering side ends or is too slow. */
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
