import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { runHiddenTests } from '../checking/hidden-tests.ts';
import { checkOut, seedRepository } from '../repository/seed.ts';
import { type Job, lostBy, type RunResult } from '../results/result.ts';
import type { Files } from '../tasks/task.ts';
import type { Stage } from './stage.ts';

interface ServiceRun {
  status: string;
  startedAt: string | null;
  finishedAt: string | null;
  failure: { category: string; message: string } | null;
  steps: number;
  inputTokens: number;
  cachedInputTokens?: number;
  outputTokens: number;
  costUsd: number | null;
}

const pollMs = 500;
/** Longer than any limit of a run. */
const patienceMs = 3 * 3_600_000;

interface Play {
  files: Files;
  model: string;
  /** Receives what the run is doing. */
  tell(state: string): void;
}

/** Lets the service do a task in a project of its own, and judges the pull request. */
export async function playTask(stage: Stage, job: Job, { files, model, tell }: Play): Promise<RunResult> {
  const name = `run-${job.run}/${job.task.id}`;
  const bare = stage.github.folderOf(name);
  await seedRepository(bare, files);
  const taskId = await startRun(stage, job, `${stage.github.url}/${name}`, model);
  const run = await ended(stage, taskId, tell);
  tell('judging the result');
  const pull = stage.github.pullOf(name);
  const proposed = pull === undefined ? 'none' : pull.draft ? 'draft' : 'ready';
  const verdict = pull && (await judged(stage, job, bare, pull.head.ref));
  await rm(bare, { recursive: true, force: true });
  const isResolved = run.status === 'succeeded' && proposed === 'ready' && verdict?.passed === true;
  return {
    loop: 'deckhand',
    task: job.task.id,
    run: job.run,
    resolved: isResolved,
    loss: isResolved ? null : lossOf(run, proposed, verdict?.output ?? ''),
    proposed,
    testsPassed: verdict?.passed ?? null,
    steps: run.steps,
    inputTokens: run.inputTokens,
    cachedInputTokens: run.cachedInputTokens ?? 0,
    outputTokens: run.outputTokens,
    costUsd: run.costUsd,
    seconds: (Date.parse(run.finishedAt ?? '') - Date.parse(run.startedAt ?? '')) / 1000 || 0,
  };
}

/** Creates a project with the repository, an agent and a task, and starts it. */
async function startRun({ service, token }: Stage, { task, run }: Job, url: string, model: string): Promise<string> {
  const post = <T>(path: string, body?: object) => service.api<T>(token, 'POST', path, body);
  const project = await post<{ id: string }>('/projects', { name: task.id });
  await post(`/projects/${project.id}/git-token`, { token: 'any' });
  const repository = await post<{ id: string }>('/repositories', { projectId: project.id, name: task.id, url });
  const agent = await post<{ id: string }>('/agents', { name: `Developer ${run}`, model });
  const { id } = await post<{ id: string }>(`/projects/${project.id}/tasks`, {
    title: task.title,
    description: task.issue,
    owner: agent.id,
    repositoryId: repository.id,
  });
  await post(`/tasks/${id}/start`);
  return id;
}

/** Waits for the end of a task's run. A run that waits for a person is cancelled, because there is none. */
async function ended({ service, token }: Stage, taskId: string, tell: Play['tell']): Promise<ServiceRun> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const [run] = await service.api<ServiceRun[]>(token, 'GET', `/tasks/${taskId}/runs`);
    if (run !== undefined && !['queued', 'running', 'waiting'].includes(run.status)) return run;
    const attention = run?.status === 'waiting' ? await attentionOf({ service, token }, taskId) : undefined;
    if (run !== undefined && attention != null && attention.reason !== 'model') {
      await service.api(token, 'POST', `/tasks/${taskId}/cancel`);
      return { ...run, failure: { category: 'waited', message: `waited for a person (${attention.reason})` } };
    }
    tell(attention == null ? stateOf(run) : `waiting for its model, ${attention.text.slice(0, 200)}`);
    if (Date.now() > end) throw new Error(`the run of ${taskId} did not end within ${patienceMs / 3_600_000} hours`);
    await sleep(pollMs);
  }
}

function stateOf(run: ServiceRun | undefined): string {
  return run === undefined || run.status === 'queued' ? 'queued' : `turn ${run.steps + 1}`;
}

interface Attention {
  reason: string;
  text: string;
}

async function attentionOf({ service, token }: Pick<Stage, 'service' | 'token'>, taskId: string) {
  const task = await service.api<{ attention?: Attention | null }>(token, 'GET', `/tasks/${taskId}`);
  return task.attention;
}

async function judged(stage: Stage, job: Job, bare: string, branch: string) {
  const folder = await checkOut(bare, branch, stage.scratch);
  try {
    return await runHiddenTests(job.task, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function lossOf(run: ServiceRun, proposed: RunResult['proposed'], output: string): RunResult['loss'] {
  if (run.failure !== null) return lostBy(`${run.failure.category}: ${run.failure.message}`);
  if (proposed === 'none') return { rule: 'the run ended without a change', detail: '' };
  if (proposed === 'draft') return { rule: 'the pull request is a draft', detail: '' };
  return { rule: 'the hidden tests fail', detail: output.slice(-1000) };
}
