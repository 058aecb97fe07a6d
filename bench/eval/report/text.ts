import { percent, rateText } from './statistics.ts';
import type { LoopSummary, Spread, Summary } from './summary.ts';

const names = { deckhand: 'Deckhand', mini: 'the mini loop' } as const;

/** Writes a summary for the terminal. */
export function textOf({ loops, model, isOracle, tasks, skipped }: Summary): string {
  return [
    `\n${isOracle ? 'Policy' : 'Model'} ${model}, ${tasks} tasks`,
    ...skipped.map(({ task, reason }) => `  skipped ${task}: ${reason}`),
    ...loops.flatMap(loopLines),
    ...(isOracle ? ['\nThe policy knows the solution, so these figures say nothing about a model.'] : []),
  ].join('\n');
}

function loopLines(loop: LoopSummary): string[] {
  const { losses, unfinishedReady, resolved } = loop;
  return [
    `\n${names[loop.loop]}`,
    `  resolved       ${rateText(resolved)}`,
    `  lost           ${resolved.of - resolved.count}`,
    ...losses.map(({ rule, runs }) => `    ${String(runs.length).padStart(4)}  ${rule}`),
    `  unfinished work proposed as ready  ${unfinishedReady}`,
    `  turns          ${spreadText(loop.steps, 0)}`,
    `  input tokens   ${spreadText(loop.inputTokens, 0)}, ${percent(loop.cachedInputTokens.sum / Math.max(1, loop.inputTokens.sum))} of them cached`,
    `  output tokens  ${spreadText(loop.outputTokens, 0)}`,
    `  cost           ${loop.costUsd === null ? 'no price is known (--prices)' : `$ ${spreadText(loop.costUsd, 4)}`}`,
    `  seconds        ${spreadText(loop.seconds, 1)}`,
  ];
}

function spreadText({ sum, median, p90 }: Spread, digits: number): string {
  return `${sum.toFixed(digits)} in all; median ${median.toFixed(digits)}, 90 % up to ${p90.toFixed(digits)}`;
}
