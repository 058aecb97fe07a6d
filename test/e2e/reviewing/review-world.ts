import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Script } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { gitAsync } from '../../support/git.ts';
import { type Open as OpenWorld, openWorld, type World } from '../../support/world.ts';

interface Run {
  id: string;
  taskId: string;
  kind: string;
  status: string;
  failure: { category: string; message: string } | null;
}
interface Comment {
  id: number;
  path: string;
  line: number | null;
  body: string;
  user: { login: string };
}

/** A world with functions for pull requests of people and their reviews. */
export type Open = World & Functions;

interface Functions {
  /** Commits files to a branch, from main if it is new. */
  /** Pushes a commit with files; undefined removes one. Returns the commit. */
  push(branch: string, files: Record<string, string | undefined>): Promise<string>;
  /** Opens a pull request of mona with these files. */
  pull(branch: string, files: Record<string, string>): Promise<number>;
  review(number: number, token?: string): Promise<Run>;
  runs(taskId: string): Promise<Run[]>;
  ended(runId: string, status: string): Promise<Run>;
  reviews(number: number): Promise<{ id: number; state: string; body: string; user: { login: string } }[]>;
  lineComments(number: number): Promise<Comment[]>;
  summaries(number: number): Promise<{ id: number; body: string }[]>;
  repositoryId: string;
}

/** Opens such a world. */
export async function openReviewWorld<W extends World = World>(
  script: Script,
  options: Parameters<typeof openWorld>[1] = {},
  open: OpenWorld<W> = openWorld as unknown as OpenWorld<W>,
): Promise<W & Functions> {
  const world = await open(script, { ...options, settings: { SANDBOX: 'off', ...options?.settings } });
  const root = await mkdtemp(join(tmpdir(), 'deckhand-reviews-'));
  const mona = world.github.as('mona');
  const repo = '/repos/mona/sample';
  const [{ id: repositoryId } = { id: '' }] = await world.get<{ id: string }[]>('/repositories');
  const url = world.github.url.replace('http://', `http://x:${'person-mona'}@`);
  let clones = 0;
  const close = world.close;
  const push = async (branch: string, files: Record<string, string | undefined>) => {
    clones += 1;
    const clone = join(root, `${clones}`);
    await gitAsync(root, 'clone', '-q', `${url}/mona/sample.git`, clone);
    await gitAsync(clone, 'checkout', '-q', '-B', branch, `origin/${branch}`).catch(() =>
      gitAsync(clone, 'checkout', '-q', '-b', branch),
    );
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(clone, path)), { recursive: true });
      if (text === undefined) await rm(join(clone, path));
      else await writeFile(join(clone, path), text);
    }
    await gitAsync(clone, 'add', '-A');
    await gitAsync(clone, 'commit', '-q', '-m', 'change');
    await gitAsync(clone, 'push', '-q', 'origin', `HEAD:${branch}`);
    return gitAsync(clone, 'rev-parse', 'HEAD');
  };
  const ended = (runId: string, status: string) =>
    until(`run ${runId} ${status}`, async () => {
      const run = await world.get<Run>(`/runs/${runId}`);
      if (['succeeded', 'failed', 'cancelled'].includes(run.status) && run.status !== status)
        throw new Error(`the run ${run.status}: ${JSON.stringify(run.failure)}`);
      return run.status === status && run;
    });
  return Object.assign(world, {
    repositoryId,
    push,
    pull: async (branch: string, files: Record<string, string>) => {
      await push(branch, files);
      const { number } = await mona<{ number: number }>('POST', `${repo}/pulls`, {
        title: `Change of ${branch}`,
        head: branch,
        base: 'main',
        body: 'please look',
      });
      return number;
    },
    review: (number: number, token = world.token) =>
      world.service.api<Run>(token, 'POST', `/repositories/${repositoryId}/pulls/${number}/review`),
    runs: (taskId: string) => world.get<Run[]>(`/tasks/${taskId}/runs`),
    ended,
    reviews: (number: number) =>
      mona<Awaited<ReturnType<Functions['reviews']>>>('GET', `${repo}/pulls/${number}/reviews?per_page=100`),
    lineComments: (number: number) => mona<Comment[]>('GET', `${repo}/pulls/${number}/comments?per_page=100`),
    summaries: async (number: number) =>
      (await world.comments(number)).filter(({ body }) => body.startsWith('<!-- deckhand:review-summary -->')),
    close: async () => {
      await close();
      await rm(root, { recursive: true, force: true });
    },
  });
}
