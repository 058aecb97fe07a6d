import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { commandFailed, RunFailed, type Said } from '../domain/run.ts';
import { withoutSecrets } from '../domain/secrets.ts';
import { UnfitWorkTree } from '../git/work-tree/read-inside.ts';
import type { Machine } from '../sandbox/sandbox.ts';
import { openMachineWithAccess, type RefusedHost } from './command-access.ts';
import { makeReadable, tooLongPath } from './keep/archive.ts';
import { findSecret, type SearchLimits, SearchOverLimit } from './keep/find-secret.ts';
import { packageCaches, placeCaches, takeCaches } from './keep/package-caches.ts';
import type { SetupPlan } from './plan-setup.ts';
import { runCommands } from './run-commands.ts';
import type { CommandResult, MissingProgram, SetupContext } from './setup-context.ts';

/** The time limit for the commands of one set-up. */
export const setupSeconds = 1200;

/** What a set-up made. */
export interface Made {
  commands: CommandResult[];
  /** The hosts that its commands could not reach. */
  refused: RefusedHost[];
  /** The commands that failed. */
  failed: CommandResult[];
  /** The commands that did not run because their program is not installed. */
  missing: MissingProgram[];
  /** The names below its folder that are kept: what git ignores in the workspace, and the home folder. */
  names: string[];
  /** The folder of the package caches that it left, for the next set-up; undefined if there are none to keep. */
  caches: string | undefined;
}

/**
 * Runs set-up in a folder of its own, in a sandbox of its own, from the files of the plan's commit. When it returns, no
 * process of it is left, and what it made contains none of its secrets.
 * @throws RunFailed `setup` when a configured command failed, or when a secret was left in a file
 */
export async function setUp(context: SetupContext, plan: SetupPlan, folder: string): Promise<Made> {
  const { app, checkout, isOutputHidden = false } = context;
  const work = join(folder, 'work');
  for (const each of [work, `${work}.home`]) await mkdir(each, { recursive: true, mode: 0o755 });
  const tree = await checkout.treeOf(plan.commit);
  await checkout.export(tree, work);
  const home = `${work}.home`;
  const caches = join(folder, 'caches');
  await placeEarlierCaches(context, plan, { caches, home });
  const confinement = await app.sandbox.confine(context.signal);
  let ran: Ran;
  let refused: RefusedHost[];
  try {
    for (const each of [work, home]) await confinement.own(each);
    const variables = Object.fromEntries(plan.secrets.map(({ name, value }) => [name, value]));
    const opened = await openMachineWithAccess(context, 'setup', { work, confinement, variables });
    try {
      ran = await runSetup(context, plan, opened.machine, confinement.signal);
    } finally {
      await opened.close();
    }
    refused = opened.refused();
    confinement.signal.throwIfAborted();
  } finally {
    await confinement.close();
  }
  const { commands, missing } = ran;
  const failed = commands.filter(({ exitCode }) => exitCode !== 0);
  const [first] = failed;
  if (first !== undefined && !plan.isDetected) throw commandFailed('setup', { ...saidOf(first), isOutputHidden });
  await makeReadable(folder, context.signal);
  const hasCaches = await unlessCachesFail(context, () => takeCaches({ work, home }, caches, context.signal));
  const names = await resultsIn(context, work, tree);
  await assertNoSecret(context, folder, names, plan);
  const mayBeKept = hasCaches && failed.length === 0 && (await areHarmless(context, folder, plan));
  return { commands, failed, missing, names, refused, caches: mayBeKept ? caches : undefined };
}

/** Moves the package caches of the last set-up into the home folder of this one. */
async function placeEarlierCaches(
  context: SetupContext,
  { cachesKey }: SetupPlan,
  { caches, home }: { caches: string; home: string },
): Promise<void> {
  await unlessCachesFail(context, async () => {
    const hasAny = await packageCaches(context.app.keptDir).take(cachesKey, caches, context.signal);
    if (hasAny) await placeCaches(caches, home);
    return hasAny;
  });
}

/** Without their caches, package managers download again, so a failure with them fails no run. */
async function unlessCachesFail({ app, signal }: SetupContext, work: () => Promise<boolean>): Promise<boolean> {
  return work().catch((error) => {
    signal.throwIfAborted();
    app.log.warn({ err: error }, 'package caches could not be moved');
    return false;
  });
}

/** Whether package caches contain no secret and nothing of a private submodule, which others may not read. */
async function areHarmless(context: SetupContext, folder: string, { secrets }: SetupPlan): Promise<boolean> {
  const { readers, signal, note } = context;
  if ((readers?.entered ?? new Set()).size > 0) return false;
  const found = await findSecret(folder, ['caches'], secrets, searchLimits(context)).catch((error) => {
    signal.throwIfAborted();
    return { name: '', path: (error as Error).message };
  });
  if (found === undefined) return true;
  const why = found.name === '' ? 'they could not be searched for secrets' : `they contain the secret ${found.name}`;
  await note('setup', `the package caches are not kept for the next set-up: ${why}`);
  return false;
}

/** Returns the names of what set-up made that is kept. @throws RunFailed `setup` */
export async function resultsIn(
  { checkout, isOutputHidden = false }: Pick<SetupContext, 'checkout' | 'isOutputHidden'>,
  work: string,
  tree: string,
): Promise<string[]> {
  const ignored = await checkout.ignoredIn(work, tree).catch((error) => {
    if (!(error instanceof UnfitWorkTree)) throw error;
    // The error may name files, whose names commands chose.
    const message = isOutputHidden ? 'set-up left files that cannot be used' : `after set-up, ${error.message}`;
    throw commandFailed('setup', { message, output: isOutputHidden ? error.message : '', isOutputHidden });
  });
  // Node cannot pass names that are not UTF-8 to programs, so files with such names are not kept.
  const named = ignored.filter((path) => !path.includes('\ufffd'));
  return [...named.map((path) => `work/${path}`), 'work.home'];
}

type Ran = Pick<Made, 'commands' | 'missing'>;

async function runSetup(context: SetupContext, plan: SetupPlan, machine: Machine, signal: AbortSignal): Promise<Ran> {
  const missing = await missingPrograms(plan.commands, machine, signal);
  for (const { program, command } of missing)
    await context.note('setup', `${program} is not installed here, so this did not run: ${command}`);
  const commands = await runCommands(
    context,
    machine,
    plan.commands.map(({ command }) => command).filter((command) => missing.every((each) => each.command !== command)),
    { seconds: setupSeconds, signal, goesOn: plan.isDetected, secrets: plan.secrets.map(({ value }) => value) },
  );
  return { commands, missing };
}

/** Returns the detected commands whose programs do not exist where commands run. */
export async function missingPrograms(
  commands: SetupPlan['commands'],
  machine: Machine,
  signal: AbortSignal,
): Promise<MissingProgram[]> {
  const all = [...new Set(commands.flatMap((each) => each.programs ?? []))];
  if (all.length === 0) return [];
  const script = `for each in ${all.join(' ')}; do command -v "$each" >/dev/null 2>&1 || echo "$each"; done`;
  const { output } = await machine.run(script, { seconds: 60, signal });
  signal.throwIfAborted();
  const absent = new Set(output.split('\n'));
  return commands.flatMap(({ command, programs = [] }) => {
    const [program] = programs;
    return program !== undefined && programs.every((each) => absent.has(each)) ? [{ program, command }] : [];
  });
}

/** Says how a command of set-up failed, and the end of its output. */
export function saidOf({ command, exitCode, output }: CommandResult): Pick<Said, 'message' | 'output'> {
  const how =
    exitCode === null
      ? `was stopped; set-up may take ${setupSeconds / 60} minutes in all`
      : `ended with exit code ${exitCode}`;
  return { message: `set-up failed: "${command.slice(0, 200)}" ${how}`, output: output.slice(-1500).trim() };
}

/**
 * Returns a path as people know it: relative to the workspace, or to the home folder. Set-up chose it, so it counts as
 * output, and may contain a secret.
 */
function shownPath(path: string, { secrets }: SetupPlan): string {
  const cleaned = withoutSecrets(
    path,
    secrets.map(({ value }) => value),
  );
  return cleaned.replace(/^work\.home/, '~').replace(/^work\//, '');
}

/** The time limit of the search for secrets. A gigabyte takes about 15 s with five secrets, and 60 s with twenty. */
const searchSeconds = 600;

function searchLimits({ app, signal }: SetupContext): SearchLimits {
  return { signal, maxBytes: app.config.MAX_RUN_DISK_MB * 2 ** 20, seconds: searchSeconds };
}

async function assertNoSecret(context: SetupContext, folder: string, names: string[], plan: SetupPlan): Promise<void> {
  const { signal } = context;
  const found = await findSecret(folder, names, plan.secrets, searchLimits(context)).catch((error) => {
    if (error instanceof SearchOverLimit)
      throw commandFailed('setup', {
        message: `what set-up made was to be searched for secrets, and is more than ${error.limit} long. Holes in files count; remove large files at the end of set-up`,
        output: `The limit was reached at ${shownPath(error.path, plan)}`,
        isOutputHidden: true,
      });
    signal.throwIfAborted();
    throw error.code === 'ENAMETOOLONG' ? new RunFailed('setup', tooLongPath) : error;
  });
  if (found === undefined) return;
  throw commandFailed('setup', {
    message: `set-up left the value of the secret ${found.name} in a file, where the agent could read it; remove the file at the end of set-up, or write only a reference such as \${${found.name}} into it`,
    output: `The file is ${shownPath(found.path, plan)}`,
    isOutputHidden: true,
  });
}
