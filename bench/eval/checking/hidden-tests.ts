import { filesOf } from '../repository/changes.ts';
import { writeFiles } from '../repository/file-tree.ts';
import { type EvalTask, passedLine } from '../tasks/task.ts';
import { runIsolated } from './isolated.ts';

export interface Verdict {
  passed: boolean;
  /** The end of the output. */
  output: string;
}

/** Long enough for a compiler on a busy machine. */
const maxSeconds = 120;
const shownOutput = 2000;

/**
 * Adds the hidden tests to a folder with the result of some work, over whatever is there, and runs them. They pass
 * only if the command succeeds and the last line of the tests was printed.
 */
export async function runHiddenTests(task: EvalTask, folder: string): Promise<Verdict> {
  await writeFiles(folder, filesOf(task.hidden.files));
  const { code, output } = await runIsolated(folder, task.hidden.command, maxSeconds);
  const passed = code === 0 && output.trimEnd().split('\n').includes(passedLine);
  return { passed, output: code === null ? `stopped after ${maxSeconds} s` : output.slice(-shownOutput) };
}
