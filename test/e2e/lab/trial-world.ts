import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ModelRequest, type Said, textOf } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { gitAsync } from '../../support/git.ts';
import { type Open as OpenWorld, openWorld, type World } from '../../support/world.ts';

export interface TrialReply {
  id: string;
  status: string;
  reason: string | null;
  agentId: string;
  promptHash: string;
  solved: number;
  of: number;
  planned: number;
  interval: [number, number] | null;
  costUsd: number | null;
  items: { itemId: string; result: string | null; reason: string | null; runId: string; taskId: string }[];
  against?: TrialReply & { difference: number; pValue: number; verdict: string; pairs: number };
}

/** A benchmark of a repository, without its harvest, and functions for trials. */
interface Functions {
  repositoryId: string;
  /** The built-in Developer. */
  agentId: string;
  /** The commits of the items: that before, and the solution. */
  commits: { base: string; solution: string }[];
  start(body?: object, agentId?: string): Promise<TrialReply>;
  trial(id: string): Promise<TrialReply>;
  /** Waits until the trial has ended. */
  ended(id: string): Promise<TrialReply>;
}

/** Each item takes seconds, and on a busy machine a minute. */
const patienceMs = 1_200_000;

/** The number of the item that a request of the model is about. */
export const itemOf = (request: ModelRequest) => Number(/Make (\d+)\.sh/.exec(textOf(request))?.[1]);

/** The system prompt of a request of the model. */
export const promptOf = ({ messages }: ModelRequest) => String(messages[0]?.content ?? '');

/** What an agent does that solves the item, or that does not. */
export const attempt = (request: ModelRequest, turn: number, isSolving: boolean): Said => {
  const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
  if (turn > 0) return [finish];
  const content = `v=${isSolving ? 'yes' : 'no'}\n`;
  return [{ name: 'write_file', arguments: { path: `${itemOf(request)}.sh`, content } }, finish];
};

/**
 * Opens a world whose repository has this many earlier changes in its benchmark. Change n made `n.sh` say yes, with a test of
 * that.
 */
export async function openTrialWorld<W extends World = World>(
  script: (request: ModelRequest, turn: number) => Said,
  { items, ...options }: Parameters<typeof openWorld>[1] & { items: number },
  open: OpenWorld<W> = openWorld as unknown as OpenWorld<W>,
): Promise<W & Functions> {
  const world = await open(script, options);
  const [{ id: repositoryId } = { id: '' }] = await world.get<{ id: string }[]>('/repositories');
  const agents = await world.get<{ id: string; name: string }[]>(`/agents?projectId=${world.project.id}`);
  const agentId = agents.find(({ name }) => name === 'Developer')?.id ?? '';
  const commits = await makeHistory(world, items);
  await insertBenchmark(world, repositoryId, commits);
  const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
  return Object.assign(world, {
    repositoryId,
    agentId,
    commits,
    start: (body: object = {}, id = agentId) =>
      api<TrialReply>('POST', `/agents/${id}/trials`, { repositoryId, budget: { costUsd: 5 }, ...body }),
    trial: (id: string) => world.get<TrialReply>(`/trials/${id}`),
    ended: (id: string) =>
      until(
        `the end of the trial ${id}`,
        async () => {
          const trial = await world.get<TrialReply>(`/trials/${id}`);
          return trial.status !== 'running' && trial;
        },
        patienceMs,
      ),
  });
}

async function makeHistory(world: World, items: number): Promise<Functions['commits']> {
  const clone = await mkdtemp(join(tmpdir(), 'deckhand-trials-'));
  const url = world.github.url.replace('http://', 'http://x:person-mona@');
  const git = (...args: string[]) => gitAsync(clone, ...args);
  await git('clone', '-q', `${url}/mona/sample.git`, '.');
  const commit = async (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) await writeFile(join(clone, path), text);
    await git('add', '-A');
    await git('commit', '-q', '-m', 'change');
    return git('rev-parse', 'HEAD');
  };
  const checks = 'checks: [for t in *.test; do sh ./$t || exit 1; done]\ntests: ["*.test"]\n';
  let base = await commit({ '.deckhand.yml': checks, 'old.test': 'true\n' });
  const commits = [];
  for (let n = 1; n <= items; n++) {
    const solution = await commit({ [`${n}.sh`]: 'v=yes\n', [`${n}.test`]: `. ./${n}.sh && test "$v" = yes\n` });
    commits.push({ base, solution });
    base = solution;
  }
  await git('tag', 'later');
  await git('push', '-q', '--tags', 'origin', 'HEAD:main');
  await rm(clone, { recursive: true, force: true });
  return commits;
}

async function insertBenchmark(world: World, repositoryId: string, commits: Functions['commits']): Promise<void> {
  const { id: projectId } = world.project;
  await world.sql(
    `insert into tasks (id, project_id, repository_id, title, status, hidden) values ('task_harvest', $1, $2, 'b', 'done', true)`,
    [projectId, repositoryId],
  );
  await world.sql(
    `insert into runs (id, task_id, project_id, kind, status, finished_at)
     values ('run_harvest', 'task_harvest', $1, 'harvest', 'succeeded', now())`,
    [projectId],
  );
  await world.sql(
    `insert into benchmarks (repository_id, task_id, run_id, most, looked) values ($1, 'task_harvest', 'run_harvest', 20, 9)`,
    [repositoryId],
  );
  for (const [i, { base, solution }] of commits.entries())
    await world.sql(
      `insert into benchmark_items (id, repository_id, title, text, removed, base_sha, solution_sha, tests, single_tests,
         seconds, state, environment_key, place)
       values ($1, $2, $3, $4, '[]', $5, $6, $7, '[]', 1, 'usable', 'key', $8)`,
      [
        ...[`item_${i + 1}`, repositoryId, `Item ${i + 1}`, `Make ${i + 1}.sh say yes.`, base, solution],
        ...[JSON.stringify([`${i + 1}.test`]), i],
      ],
    );
}
