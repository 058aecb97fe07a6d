import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Said, Script } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { gitAsync, gitOut } from './git.ts';
import { openWorld, type World, type WorldTask } from './world.ts';

export const repo = '/repos/mona/sample';
export const write = (path: string, content: string) => ({ name: 'write_file', arguments: { path, content } });
const finish = (summary: string) => ({ name: 'finish', arguments: { summary, nextSteps: [] } });

/** Opens a world seen from GitHub: what people do there, and what they see. */
export async function openFace(options: Parameters<typeof openWorld>[1] = {}) {
  const script: Said[] = [];
  const world: World = await openWorld(script as Script, options);
  /** Sets what the model answers in the next run, turn by turn. */
  const plays = (...turns: Said[]) => script.splice(0, script.length, ...turns);
  /** Makes the next run write these files and finish. */
  const next = (files: Record<string, string>, summary = 'Done.') =>
    plays(
      Object.entries(files).map(([path, content]) => write(path, content)),
      [finish(summary)],
    );
  const seen = eyesOf(world);
  /** Creates a task in review, with its issue and pull request. */
  const inReview = async (files: Record<string, string>) => {
    next(files);
    const number = await world.issue('/agent start');
    const task = await seen.settled(number, 'in_review', 1);
    return { number, task, pull: seen.pullOf(task) };
  };
  return { world, plays, next, inReview, ...seen, ...handsOf(world) };
}

/** Returns functions that read what the API and GitHub show. */
function eyesOf(world: World) {
  const taskOf = (number: number) =>
    until('the task of the issue', async () =>
      (await world.get<(WorldTask & { issueNumber: number })[]>(`/projects/${world.project.id}/tasks?limit=100`)).find(
        (t) => t.issueNumber === number,
      ),
    );
  const statusComment = async (number: number) =>
    (await world.comments(number)).filter((c) => c.body.startsWith('<!-- deckhand:status -->'));
  return {
    get: (task: { id: string }) => world.get<WorldTask>(`/tasks/${task.id}`),
    kinds: async (task: { id: string }) =>
      (await world.get<{ kind: string }[]>(`/tasks/${task.id}/runs`)).map((r) => r.kind),
    taskOf,
    /** Waits until the task of the issue has this status and this many runs, all of them ended. */
    settled: (number: number, status: string, runs: number) =>
      until(`issue ${number} ${status} after ${runs} runs`, async () => {
        const task = await taskOf(number);
        if (task.status !== status || task.runCount !== runs) return false;
        const all = await world.get<{ status: string }[]>(`/tasks/${task.id}/runs`);
        const isQuiet = all.every((r) => !['queued', 'running', 'waiting'].includes(r.status));
        return all.length === runs && isQuiet && task;
      }),
    pullOf: (task: WorldTask) => Number(/\d+$/.exec(task.prUrl ?? '')?.[0]),
    statusComment,
    /** Waits until the status comment of the issue contains the text. */
    told: (number: number, text: string | RegExp) =>
      until(`${text} in the status comment of ${number}`, async () =>
        (await statusComment(number))[0]?.body.match(text),
      ),
    reactionsTo: (id: number) =>
      world.github.reactions.filter((r) => r.subject.endsWith(`/comments/${id}`)).map((r) => r.content),
    fileOn: (branch: string, path: string) => gitOut(world.github.folderOf('mona/sample'), 'show', `${branch}:${path}`),
  };
}

/** Returns functions for people's actions on GitHub. */
export function handsOf({ github }: World) {
  const as =
    (login: string) =>
    <T = unknown>(method: string, path: string, body?: object) =>
      github.as(login)<T>(method, path, body);
  /** Clones a branch, lets `act` work in the clone, and pushes its head to a branch, with mona's own token. */
  const inClone = async (from: string, to: string, force: boolean, act: (clone: string) => Promise<void>) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-person-'));
    try {
      const url = `${github.url.replace('http://', 'http://x:person-mona@')}/mona/sample.git`;
      const clone = join(folder, 'c');
      await gitAsync(folder, 'clone', '-q', '-b', from, url, 'c');
      await act(clone);
      await gitAsync(clone, 'push', '-q', ...(force ? ['--force'] : []), 'origin', `HEAD:${to}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  return {
    as,
    inClone,
    mona: as('mona'),
    say: (number: number, body: string, who = 'mona') =>
      as(who)<{ id: number }>('POST', `${repo}/issues/${number}/comments`, { body }),
    /** Commits a file and pushes it with mona's own token. */
    push: (branch: string, path: string, content: string, { force = false } = {}) =>
      inClone(force ? 'main' : branch, branch, force, async (clone) => {
        mkdirSync(dirname(join(clone, path)), { recursive: true });
        writeFileSync(join(clone, path), content);
        await gitAsync(clone, 'add', '-A');
        await gitAsync(clone, 'commit', '-q', '-m', 'by a person');
      }),
    /** Merges main into a branch, as the button "Update branch" of a pull request does. */
    updateBranch: (branch: string) =>
      inClone(branch, branch, false, (clone) =>
        gitAsync(clone, 'merge', '-q', '--no-edit', 'origin/main').then(() => {}),
      ),
  };
}

export type Face = Awaited<ReturnType<typeof openFace>>;
