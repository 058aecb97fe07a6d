import type { EvalTask } from '../tasks/task.ts';

/** One run of a task. */
export interface Job {
  task: EvalTask;
  /** The number of the run in the evaluation. */
  run: number;
}

export type Loop = 'deckhand' | 'mini';

/** What came of a job in one of the loops. */
export interface RunResult {
  loop: Loop;
  task: string;
  run: number;
  /** The work was proposed and passes the hidden tests. */
  resolved: boolean;
  /** Null when it is resolved. Runs that were lost by the same rule have the same `rule`. */
  loss: { rule: string; detail: string } | null;
  /** The pull request; `ready` means not a draft. For the mini loop: whether the work was submitted. */
  proposed: 'ready' | 'draft' | 'none';
  /** Null when there was nothing to test. */
  testsPassed: boolean | null;
  steps: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  costUsd: number | null;
  seconds: number;
}

/** Derives the rule from the message of a failure by leaving out what differs between runs. */
export function lostBy(message: string): { rule: string; detail: string } {
  const [category = '', sentence = ''] = message.split(/: (.*)/s);
  const first = sentence.split(/[:;(\n]/)[0] ?? '';
  const rule = first
    .replace(/\S*[/.]\S+/g, '…')
    .replace(/\d+/g, 'n')
    .trim()
    .slice(0, 120);
  return { rule: `${category}: ${rule}`, detail: message.slice(0, 1000) };
}

/** Spreads runs over the tasks: first each task once, then each a second time, and so on. */
export function planJobs(tasks: EvalTask[], runs: number): Job[] {
  return Array.from({ length: runs }, (_, run) => ({ task: tasks[run % tasks.length] as EvalTask, run }));
}
