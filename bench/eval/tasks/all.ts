import { compiledTasks } from './own/compiled.ts';
import { largeTasks } from './own/large.ts';
import { nodeTasks } from './own/node.ts';
import { perlTasks } from './own/perl.ts';
import { pythonTasks } from './own/python.ts';
import { serverTasks } from './own/server.ts';
import { shellTasks } from './own/shell.ts';
import { tasksOf } from './package-task.ts';
import { addresses } from './packages/addresses.ts';
import { calls } from './packages/calls.ts';
import { collections } from './packages/collections.ts';
import { formats } from './packages/formats.ts';
import { http } from './packages/http.ts';
import { settings } from './packages/settings.ts';
import { tablesAndTokens } from './packages/tables-and-tokens.ts';
import { text } from './packages/text.ts';
import { values } from './packages/values.ts';
import type { EvalTask } from './task.ts';

/** The tasks that we wrote whole. They need no registry. */
export const writtenTasks: EvalTask[] = [
  ...nodeTasks,
  ...serverTasks,
  ...largeTasks,
  ...pythonTasks,
  ...shellTasks,
  ...compiledTasks,
  ...perlTasks,
];

export const packages = [
  ...formats,
  ...http,
  ...addresses,
  ...text,
  ...tablesAndTokens,
  ...values,
  ...settings,
  ...collections,
  ...calls,
];

export const allTasks: EvalTask[] = [...packages.flatMap(tasksOf), ...writtenTasks];

/**
 * Returns the tasks whose ids begin with one of the given texts, or all tasks.
 * @throws Error when a text fits no task
 */
export function chosenTasks(prefixes: string[]): EvalTask[] {
  const unknown = prefixes.filter((prefix) => !allTasks.some(({ id }) => id.startsWith(prefix)));
  if (unknown.length > 0)
    throw new Error(`No task begins with ${unknown.join(', ')}. \`npm run eval -- list\` shows all.`);
  return allTasks.filter(({ id }) => prefixes.length === 0 || prefixes.some((prefix) => id.startsWith(prefix)));
}
