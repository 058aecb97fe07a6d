import { median, percentile } from '../../figures.ts';
import type { Loop, RunResult } from '../results/result.ts';
import type { EvalTask } from '../tasks/task.ts';
import { type Rate, rateOf } from './statistics.ts';

/** A figure of all runs: its sum, the median and the 90th percentile of a run. */
export interface Spread {
  sum: number;
  median: number;
  p90: number;
}

export interface LoopSummary {
  loop: Loop;
  resolved: Rate;
  /** Runs that proposed work as ready although the hidden tests fail. */
  unfinishedReady: number;
  steps: Spread;
  inputTokens: Spread;
  cachedInputTokens: Spread;
  outputTokens: Spread;
  /** Null when no price is known. */
  costUsd: Spread | null;
  seconds: Spread;
  /** The rules by which runs were lost, the most frequent first. */
  losses: { rule: string; runs: { task: string; run: number; detail: string }[] }[];
  groups: { name: string; resolved: Rate }[];
}

export interface Summary {
  model: string;
  isOracle: boolean;
  seed: string;
  tasks: number;
  skipped: { task: string; reason: string }[];
  loops: LoopSummary[];
}

export function summaryOf(loop: Loop, all: RunResult[], tasks: EvalTask[]): LoopSummary {
  const results = all.filter((result) => result.loop === loop);
  const spread = (pick: (result: RunResult) => number) => spreadOf(results.map(pick));
  const isPriced = results.some(({ costUsd }) => costUsd !== null);
  return {
    loop,
    resolved: rateOf(results.filter((r) => r.resolved).length, results.length),
    unfinishedReady: results.filter((r) => r.proposed === 'ready' && r.testsPassed === false).length,
    steps: spread((r) => r.steps),
    inputTokens: spread((r) => r.inputTokens),
    cachedInputTokens: spread((r) => r.cachedInputTokens),
    outputTokens: spread((r) => r.outputTokens),
    costUsd: isPriced ? spread((r) => r.costUsd ?? 0) : null,
    seconds: spread((r) => r.seconds),
    losses: lossesOf(results),
    groups: groupsOf(results, tasks),
  };
}

function spreadOf(values: number[]): Spread {
  return { sum: values.reduce((a, b) => a + b, 0), median: median(values), p90: percentile(values, 0.9) };
}

function lossesOf(results: RunResult[]): LoopSummary['losses'] {
  const rules = new Map<string, LoopSummary['losses'][number]['runs']>();
  for (const { loss, task, run } of results) {
    if (loss === null) continue;
    rules.set(loss.rule, [...(rules.get(loss.rule) ?? []), { task, run, detail: loss.detail }]);
  }
  return [...rules].map(([rule, runs]) => ({ rule, runs })).sort((a, b) => b.runs.length - a.runs.length);
}

/** The resolve rate by language and by trait. */
function groupsOf(results: RunResult[], tasks: EvalTask[]): LoopSummary['groups'] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const groups = new Map<string, RunResult[]>();
  for (const result of results) {
    const task = byId.get(result.task);
    for (const name of task === undefined ? [] : [task.language, ...task.traits])
      groups.set(name, [...(groups.get(name) ?? []), result]);
  }
  return [...groups].map(([name, list]) => ({
    name,
    resolved: rateOf(list.filter((r) => r.resolved).length, list.length),
  }));
}
