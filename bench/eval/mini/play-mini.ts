import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runHiddenTests } from '../checking/hidden-tests.ts';
import { runIsolated } from '../checking/isolated.ts';
import { writeFiles } from '../repository/file-tree.ts';
import type { Job, RunResult } from '../results/result.ts';
import type { Files } from '../tasks/task.ts';
import type { ChatModel } from './chat-model.ts';
import { miniLoop } from './loop.ts';

const commandSeconds = 120;
/** As many as a run of the service has by default. */
const maxSteps = 100;

/** Lets the mini loop do a task in a folder, and judges the folder. */
export async function playMini(scratch: string, job: Job, files: Files, model: ChatModel): Promise<RunResult> {
  const folder = await mkdtemp(join(scratch, 'mini-'));
  const began = performance.now();
  try {
    await writeFiles(folder, files);
    const run = (command: string) => runIsolated(folder, command, commandSeconds);
    const ending = await miniLoop(model, job.task, run, maxSteps);
    const seconds = (performance.now() - began) / 1000;
    const isSubmitted = ending.how === 'submitted';
    const verdict = await runHiddenTests(job.task, folder);
    const isResolved = isSubmitted && verdict.passed;
    return {
      loop: 'mini',
      task: job.task.id,
      run: job.run,
      resolved: isResolved,
      loss: isResolved
        ? null
        : { rule: isSubmitted ? 'the hidden tests fail' : ending.how, detail: ending.detail || verdict.output },
      proposed: isSubmitted ? 'ready' : 'none',
      testsPassed: verdict.passed,
      steps: ending.steps,
      inputTokens: ending.inputTokens,
      cachedInputTokens: ending.cachedInputTokens,
      outputTokens: ending.outputTokens,
      costUsd: null,
      seconds,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
