import { filesOf } from '../repository/changes.ts';
import type { EvalTask, Trait } from './task.ts';

/** A task whose repository we wrote. */
export interface WrittenTask extends Omit<EvalTask, 'repository' | 'traits'> {
  traits?: Trait[];
  files: Record<string, string>;
}

export function written({ files, traits = [], ...task }: WrittenTask): EvalTask {
  return { ...task, traits: ['written', ...traits], repository: async () => filesOf(files) };
}
