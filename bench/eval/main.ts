import { say } from '../figures.ts';
import { problemsOf } from './checking/verify.ts';
import { evaluate, runnable } from './evaluate.ts';
import { inParallel } from './in-parallel.ts';
import { type Options, readOptions, usage } from './options.ts';
import { packageFetcher } from './repository/fetch-package.ts';
import type { Stage } from './service/stage.ts';
import { chosenTasks } from './tasks/all.ts';

// `npm run eval`: how many tasks does a model resolve, and what do we lose ourselves? See docs/evaluation.md.

let stage: Stage | undefined;

async function run(options: Options): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, async () => {
      say('Interrupted. The same command continues.');
      await stage?.close().catch(() => {});
      process.exit(130);
    });
  await evaluate(options, chosenTasks(options.tasks), (opened) => {
    stage = opened;
  });
}

async function verify(options: Options): Promise<void> {
  const { tasks, skipped } = await runnable(chosenTasks(options.tasks));
  for (const { task, reason } of skipped) say(`skipped ${task}: ${reason}`);
  const fetch = packageFetcher(options.cache);
  let wrong = 0;
  await inParallel(tasks, options.parallel, async (task) => {
    const problems = await problemsOf(task, fetch);
    if (problems.length > 0) wrong++;
    say(`${problems.length === 0 ? 'good   ' : 'WRONG  '} ${task.id}`);
    for (const problem of problems) say(`        ${problem}`);
  });
  say(`${tasks.length - wrong} of ${tasks.length} tasks are good, ${skipped.length} skipped`);
  if (wrong > 0) process.exitCode = 1;
}

function list(options: Options): void {
  for (const { id, language, traits, title } of chosenTasks(options.tasks))
    say(`${id.padEnd(36)} ${language.padEnd(11)} ${traits.join(', ').padEnd(28)} ${title}`);
}

function optionsGiven(): Options | undefined {
  try {
    return readOptions(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exitCode = 2;
    return undefined;
  }
}

const options = optionsGiven();
const commands = { run, verify, list, help: () => say(usage) };
if (options !== undefined)
  try {
    await commands[options.command](options);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
