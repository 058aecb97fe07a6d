import { changed } from '../repository/changes.ts';
import { type Change, type EvalTask, type Files, isEdit, isRemoval } from '../tasks/task.ts';
import type { Action, Dialect } from './actions.ts';
import { chance } from './chance.ts';
import { type Attempt, type Conversation, removal } from './conversation.ts';

/** A task together with the files of its repository before the change. */
export interface Assignment {
  task: EvalTask;
  files: Files;
}

/** In this share of the runs, small files are written whole instead of edited. */
const writeShare = 0.2;
const smallFile = 6000;
/** Tests that fail are run again once; then the policy ends its work, as models do. */
const maxTestRuns = 2;

/** Returns the steps of somebody who knows the solution: look around, read, change, test, finish. */
function planOf({ task, files }: Assignment, dialect: Dialect, seed: string): Action[] {
  const paths = [...new Set(task.gold.map((change) => change.file))];
  const [first = ''] = paths;
  return [
    { do: 'list' },
    { do: 'search', text: searchedText(task.gold, first) },
    ...paths.filter((path) => files.has(path)).map((path): Action => ({ do: 'read', path })),
    ...changesOf({ task, files }, seed),
    ...(dialect.hasShell ? [{ do: 'test', command: task.testCommand } as const] : []),
    { do: 'finish' },
  ];
}

/** A word of the place that is wrong, which is how it is found. */
function searchedText(gold: Change[], fallback: string): string {
  const edit = gold.find(isEdit);
  const words = edit?.find.match(/\w{4,}/g) ?? [];
  return words.toSorted((a, b) => b.length - a.length)[0] ?? fallback;
}

function changesOf({ task, files }: Assignment, seed: string): Action[] {
  const after = changed(files, task.gold);
  const actions: Action[] = [];
  for (const path of new Set(task.gold.map((change) => change.file))) {
    const changes = task.gold.filter((change) => change.file === path);
    const content = after.get(path)?.toString('utf8') ?? '';
    const isWritten = content.length < smallFile && chance('write', seed, path) < writeShare;
    if (changes.some(isRemoval)) actions.push({ do: 'remove', path });
    else if (isWritten || !changes.every(isEdit)) actions.push({ do: 'write', path, content });
    else
      for (const { find, replace } of changes.filter(isEdit))
        actions.push({ do: 'edit', path, old: find, new: replace });
  }
  return actions;
}

/** After this many failures of a step the policy goes on without it. */
function enoughFailures({ do: kind }: Action): number {
  if (kind === 'test') return maxTestRuns;
  // A search that finds nothing, and a file that is gone already.
  return kind === 'search' || kind === 'remove' ? 1 : Number.POSITIVE_INFINITY;
}

/** Returns the next step: the first one of the plan that has not been done. */
export function nextAction(assignment: Assignment, dialect: Dialect, conversation: Conversation, seed: string): Action {
  if (conversation.unwanted.length > 0 && dialect.hasShell)
    return { do: 'test', command: removal(conversation.unwanted) };
  for (const step of planOf(assignment, dialect, seed)) {
    const made = conversation.attempts.filter((attempt) => isAttemptAt(step, attempt, dialect));
    const failures = made.filter((attempt) => attempt.failed).length;
    if (failures < made.length || failures >= enoughFailures(step)) continue;
    if (step.do !== 'edit' || failures === 0) return step;
    const instead = afterFailedEdit(assignment, step, conversation, dialect);
    if (instead !== undefined) return instead;
  }
  return { do: 'finish' };
}

/**
 * An exact edit failed. Perhaps an earlier, inexact one has worked: read the file, and write it whole if the change is
 * not there. Returns undefined when the change is there.
 */
function afterFailedEdit(
  { task, files }: Assignment,
  step: Action & { do: 'edit' },
  { attempts }: Conversation,
  dialect: Dialect,
): Action | undefined {
  const read: Action = { do: 'read', path: step.path };
  const content = changed(files, task.gold).get(step.path)?.toString('utf8') ?? '';
  const write: Action = { do: 'write', path: step.path, content };
  if (attempts.some((a) => !a.failed && isAttemptAt(write, a, dialect))) return undefined;
  const failedAt = attempts.findLastIndex((a) => a.failed && isAttemptAt(step, a, dialect));
  const seen = attempts.slice(failedAt).findLast((a) => !a.failed && isAttemptAt(read, a, dialect));
  if (seen === undefined) return read;
  return shows(step.new, seen.result) ? undefined : write;
}

/** Whether each line of a text occurs in the result of a read, which may number its lines. */
function shows(text: string, result: string): boolean {
  return text
    .split('\n')
    .map((line) => line.trim())
    .every((line) => result.includes(line));
}

/**
 * Whether an attempt was meant to take this step. Compares only letters and digits, because arguments that were broken
 * JSON may come back repaired.
 */
function isAttemptAt(step: Action, attempt: Attempt, dialect: Dialect): boolean {
  const { name, arguments: wanted } = dialect.write(step);
  return attempt.name === name && letters(attempt.arguments) === letters(JSON.stringify(wanted));
}

const letters = (json: string) => json.replace(/\\[nrt]/g, '').replace(/[^\p{L}\p{N}]/gu, '');
