import type { RunResult } from '../results/result.ts';
import { countChart, escaped, histogram, rateChart } from './charts.ts';
import { rateText } from './statistics.ts';
import type { LoopSummary, Spread, Summary } from './summary.ts';

const names = { deckhand: 'Deckhand', mini: 'Mini loop' } as const;

const style = `
:root { color-scheme: light dark; --text: #1f2328; --muted: #59636e; --back: #ffffff; --line: #d1d9e0; --bar: #0969da; --mark: #1f2328; }
@media (prefers-color-scheme: dark) {
  :root { --text: #f0f6fc; --muted: #9198a1; --back: #0d1117; --line: #3d444d; --bar: #4493f8; --mark: #f0f6fc; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.25; }
svg { max-width: 100%; height: auto; font-size: 13px; }
svg text { fill: var(--text); }
.bar { fill: var(--bar); }
.grid { stroke: var(--line); }
.interval { stroke: var(--mark); stroke-width: 2; fill: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
caption { text-align: left; color: var(--muted); padding-bottom: .5rem; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
.note { border-left: 4px solid var(--bar); padding-left: 1rem; }
`;

/** Writes the report as one page that needs no other file. */
export function pageOf(summary: Summary, results: RunResult[]): string {
  const { model, isOracle, tasks, skipped, loops, seed } = summary;
  const title = `Evaluation: ${model}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${tasks} tasks, seed ${escaped(seed)}.</p>
${isOracle ? '<p class="note">The policy knows the solution of each task. The figures show what the loops lose; they say nothing about a model.</p>' : ''}
<h2>Resolved</h2>
${rateChart(
  loops.map(({ loop, resolved }) => `${names[loop]}: ${rateText(resolved)}`).join('. '),
  loops.map(({ loop, resolved }) => ({ name: names[loop], rate: resolved })),
)}
<p>The lines show 95 % confidence intervals (Wilson).</p>
${figuresTable(loops)}
${loops.map((loop) => loopSection(loop, results)).join('\n')}
${skipped.length === 0 ? '' : `<h2>Skipped</h2>\n<ul>${skipped.map((s) => `<li>${escaped(`${s.task}: ${s.reason}`)}</li>`).join('')}</ul>`}
${runsTable(results)}
</main>
</body>
</html>
`;
}

function figuresTable(loops: LoopSummary[]): string {
  const rows: [string, (loop: LoopSummary) => string][] = [
    ['Resolved', (l) => rateText(l.resolved)],
    ['Unfinished work proposed as ready', (l) => String(l.unfinishedReady)],
    ['Turns', (l) => spread(l.steps, 0)],
    ['Input tokens', (l) => spread(l.inputTokens, 0)],
    ['Cached input tokens', (l) => spread(l.cachedInputTokens, 0)],
    ['Output tokens', (l) => spread(l.outputTokens, 0)],
    ['Cost in US dollars', (l) => (l.costUsd === null ? 'no price is known' : spread(l.costUsd, 4))],
    ['Seconds', (l) => spread(l.seconds, 1)],
  ];
  const head = loops.map(({ loop }) => `<th scope="col">${names[loop]}</th>`).join('');
  const body = rows.map(
    ([name, value]) =>
      `<tr><th scope="row">${name}</th>${loops.map((l) => `<td>${escaped(value(l))}</td>`).join('')}</tr>`,
  );
  return `<div class="scroll"><table><caption>All runs</caption><thead><tr><th scope="col">Figure</th>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`;
}

function spread({ sum, median, p90 }: Spread, digits: number): string {
  return `${sum.toFixed(digits)} in all, median ${median.toFixed(digits)}, 90 % up to ${p90.toFixed(digits)}`;
}

function loopSection({ loop, losses, groups }: LoopSummary, results: RunResult[]): string {
  const turns = histogram(results.filter((r) => r.loop === loop).map((r) => r.steps));
  const lost = losses.map(({ rule, runs }) => ({ name: rule, count: runs.length }));
  const described = (rows: { name: string; count: number }[]) => rows.map((r) => `${r.name}: ${r.count}`).join('; ');
  const details = losses.map(
    ({ rule, runs }) =>
      `<h4>${escaped(rule)} (${runs.length})</h4><ul>${runs.map((run) => `<li>${escaped(run.task)}, run ${run.run}<pre>${escaped(run.detail)}</pre></li>`).join('')}</ul>`,
  );
  return `<h2>${names[loop]}</h2>
<h3>By kind of task</h3>
${rateChart(
  groups.map((g) => `${g.name}: ${rateText(g.resolved)}`).join('. '),
  groups.map((g) => ({ name: g.name, rate: g.resolved })),
)}
<h3>Turns of a run</h3>
${countChart(`Runs by their number of turns. ${described(turns)}`, turns)}
<h3>Reasons for lost runs</h3>
${lost.length === 0 ? '<p>No run was lost.</p>' : `${countChart(`Lost runs by reason. ${described(lost)}`, lost)}\n<details><summary>Each lost run</summary>${details.join('\n')}</details>`}`;
}

function runsTable(results: RunResult[]): string {
  const rows = results.map(
    (r) =>
      `<tr><td>${names[r.loop]}</td><td>${escaped(r.task)}</td><td class="number">${r.run}</td><td>${r.resolved ? 'resolved' : escaped(r.loss?.rule ?? 'lost')}</td><td class="number">${r.steps}</td><td class="number">${r.inputTokens + r.outputTokens}</td><td class="number">${r.seconds.toFixed(1)}</td></tr>`,
  );
  const head = ['Loop', 'Task', 'Run', 'Result', 'Turns', 'Tokens', 'Seconds'];
  return `<h2>Runs</h2>
<div class="scroll"><table><caption>Each run</caption><thead><tr>${head.map((name) => `<th scope="col">${name}</th>`).join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`;
}
