import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { say } from '../figures.ts';
import { missingPrograms } from './checking/isolated.ts';
import { inParallel } from './in-parallel.ts';
import { chatModel } from './mini/chat-model.ts';
import { playMini } from './mini/play-mini.ts';
import type { Options } from './options.ts';
import { type OracleServer, oracleModel, startOracle } from './oracle/server.ts';
import { pageOf } from './report/page.ts';
import { openProgress } from './report/progress.ts';
import { type Summary, summaryOf } from './report/summary.ts';
import { textOf } from './report/text.ts';
import { packageFetcher } from './repository/fetch-package.ts';
import { type Job, type Loop, planJobs, type RunResult } from './results/result.ts';
import { openResults, type ResultsFile } from './results/results-file.ts';
import { playTask } from './service/play-task.ts';
import { openStage, type Stage } from './service/stage.ts';
import type { EvalTask, Files } from './tasks/task.ts';

/** Pause between progress lines while no run ends, in ms. */
const remindMs = 15_000;

/** Returns the tasks that can run here, and why the others cannot. */
export async function runnable(tasks: EvalTask[]): Promise<{ tasks: EvalTask[]; skipped: Summary['skipped'] }> {
  const missing = new Set(await missingPrograms(tasks.flatMap((task) => task.programs)));
  const lacking = (task: EvalTask) => task.programs.filter((program) => missing.has(program));
  return {
    tasks: tasks.filter((task) => lacking(task).length === 0),
    skipped: tasks
      .filter((task) => lacking(task).length > 0)
      .map((task) => ({ task: task.id, reason: `${lacking(task).join(' and ')} is not installed` })),
  };
}

/** Runs the tasks that have no result yet, and writes the report about all of them. */
export async function evaluate(options: Options, all: EvalTask[], onStage: (stage: Stage) => void): Promise<Summary> {
  const { tasks, skipped } = await runnable(all);
  const fetch = packageFetcher(options.cache);
  say(`Preparing ${tasks.length} tasks. Packages that are not in ${options.cache} are fetched.`);
  const assignments = [];
  for (const task of tasks) assignments.push({ task, files: await task.repository(fetch) });
  const oracle = options.model === undefined ? await startOracle(assignments) : undefined;
  const model = options.model ?? `oracle-${options.oracle}`;
  const runs = options.runs ?? tasks.length;
  const server = oracle === undefined ? options.baseUrl : '';
  const settings = { model, server, api: options.api, seed: options.seed, runs, tasks: tasks.map(({ id }) => id) };
  const results = await openResults(options.out, settings);
  const jobs = planJobs(tasks, runs);
  const files = new Map(assignments.map((each) => [each.task.id, each.files]));
  try {
    await runJobs({ options, oracle, results, files, jobs, onStage });
  } finally {
    oracle?.close();
  }
  const loops = [...new Set(results.results.map(({ loop }) => loop))].map((loop) =>
    summaryOf(loop, results.results, tasks),
  );
  const isOracle = oracle !== undefined;
  const summary = { model, isOracle, seed: options.seed, tasks: tasks.length, skipped, loops };
  await writeFile(join(options.out, 'report.json'), JSON.stringify(summary, null, 2));
  await writeFile(join(options.out, 'report.html'), pageOf(summary, results.results));
  say(textOf(summary));
  say(`\nThe report is in ${options.out}.`);
  return summary;
}

interface Work {
  options: Options;
  oracle: OracleServer | undefined;
  results: ResultsFile;
  files: Map<string, Files>;
  jobs: Job[];
  onStage(stage: Stage): void;
}

async function runJobs({ options, oracle, results, files, jobs, onStage }: Work): Promise<void> {
  const left = jobs.filter(
    ({ run }) => !results.has('deckhand', run) || (options.withMini && !results.has('mini', run)),
  );
  say(`${jobs.length} runs, ${left.length} of them to do`);
  if (left.length === 0) return;
  const [url, key] = [oracle?.url ?? options.baseUrl, options.apiKey];
  // Each run of an oracle has mistakes of its own.
  const modelOf = ({ run }: Job) => options.model ?? oracleModel(options.oracle, `${options.seed}.${run}`);
  // Not in the results: the users of sandboxes must be able to enter the folder.
  const folder = join(tmpdir(), `deckhand-eval-${createHash('sha256').update(options.out).digest('hex').slice(0, 12)}`);
  say('Starting the service');
  const stage = await openStage(folder, {
    slots: options.parallel,
    modelUrl: url,
    modelKey: key,
    model: options.model ?? 'oracle',
    extra: { MODEL_PRICES: options.prices, OPENAI_API: options.api },
  });
  onStage(stage);
  let begun = 0;
  const progress = openProgress(say);
  const reminding = setInterval(progress.remind, remindMs);
  const keep = async (result: RunResult, number: number) => {
    await results.add(result);
    progress.say(
      `  ${String(number).padStart(4)}/${left.length} ${result.loop.padEnd(8)} ${result.task}: ${ended(result)}`,
    );
  };
  try {
    await inParallel(left, options.parallel, async (job) => {
      const number = ++begun;
      const [repository, name] = [files.get(job.task.id) ?? new Map(), modelOf(job)];
      const play = async (loop: Loop, run: (tell: (state: string) => void) => Promise<RunResult>) => {
        if (!results.has(loop, job.run)) await keep(await progress.follow(loop, job.task.id, run), number);
      };
      await play('deckhand', (tell) => playTask(stage, job, { files: repository, model: name, tell }));
      if (!options.withMini) return;
      await play('mini', () => playMini(stage.scratch, job, repository, chatModel({ url, key, name })));
    });
  } finally {
    clearInterval(reminding);
    await stage.close();
  }
}

function ended({ resolved, loss, steps, seconds }: RunResult): string {
  return `${resolved ? 'resolved' : `lost, ${loss?.rule}`} (${steps} turns, ${seconds.toFixed(1)} s)`;
}
