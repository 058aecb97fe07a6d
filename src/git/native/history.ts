import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PastCommit } from '../engine.ts';
import { type History, linesOf } from '../merge-base.ts';
import { inPortions } from '../work-tree/tree-files.ts';
import { deepen, type NativeRepository } from './repository.ts';

/** Characters kept of a commit's message. */
const maxMessage = 20_000;
/** The first fetch of history gets at least this many commits, because each fetch costs a request. */
const leastFetched = 100;

/** Returns a commit and those before it; see `Checkout.history`. */
export async function historyBefore(
  repository: NativeRepository,
  commit: string,
  count: number,
): Promise<PastCommit[]> {
  // The oldest commit of a shallow repository has lost its parents, so one more is needed.
  for (let known = await firstParents(repository, commit, count + 1); ; ) {
    if (known.length > count || !(await isShallow(repository))) return known.slice(0, count);
    await deepen(repository, Math.max(leastFetched, count + 1 - known.length));
    repository.objects.forget();
    const now = await firstParents(repository, commit, count + 1);
    // The remote has no more, or its history leads past this commit.
    if (now.length === known.length) return known.slice(0, count);
    known = now;
  }
}

/** Returns the commits that are here, along first parents. */
async function firstParents(repository: NativeRepository, commit: string, count: number): Promise<PastCommit[]> {
  const output = await repository.git([
    ...['log', '-z', '--first-parent', `--max-count=${count}`, '--format=%H%n%P%n%ct%n%B'],
    ...[commit, '--'],
  ]);
  const commits: PastCommit[] = [];
  await inPortions(output.toString('utf8').split('\0'), (record) => {
    const [id = '', parents = '', seconds = '', ...message] = record.split('\n');
    if (id === '') return;
    commits.push({
      id,
      parents: parents.split(' ').filter((parent) => parent !== ''),
      at: new Date(Number(seconds) * 1000),
      message: message.join('\n').trim().slice(0, maxMessage),
    });
  });
  return commits;
}

async function isShallow({ gitDir }: NativeRepository): Promise<boolean> {
  const text = await readFile(join(gitDir, 'shallow'), 'utf8').catch(() => '');
  return text.trim() !== '';
}

/** The history of a commit and of a merge of the others. */
export function historyOf(repository: NativeRepository, commit: string, others: string[]): History {
  const lines = (args: string[]) => repository.git(args).then((output) => linesOf(output.toString('utf8')));
  return {
    // git exits with 1 when there is no common ancestor.
    search: () => lines(['merge-base', '--all', commit, ...others]).catch(() => []),
    gitDir: repository.gitDir,
    since: (ancestors, most) => lines(['rev-list', `--max-count=${most}`, commit, ...others, '--not', ...ancestors]),
    deepen: (commits) => deepen(repository, commits),
  };
}
