import { appendFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Loop, RunResult } from './result.ts';

/** The results of an evaluation on disk: one line of JSON for each run that ended. */
export interface ResultsFile {
  results: RunResult[];
  has(loop: Loop, run: number): boolean;
  add(result: RunResult): Promise<void>;
}

/**
 * Opens the results in a folder, to continue an evaluation that was interrupted. `settings` are those on which results
 * depend; they are stored beside the results and must be the same each time.
 * @throws Error when the folder has results of other settings
 */
export async function openResults(folder: string, settings: object): Promise<ResultsFile> {
  await mkdir(folder, { recursive: true });
  await claim(join(folder, 'settings.json'), JSON.stringify(settings, null, 2));
  const file = join(folder, 'results.jsonl');
  const results = await readResults(file);
  return {
    results,
    has: (loop, run) => results.some((each) => each.loop === loop && each.run === run),
    add: async (result) => {
      await appendFile(file, `${JSON.stringify(result)}\n`);
      results.push(result);
    },
  };
}

async function claim(file: string, settings: string): Promise<void> {
  const before = await readFile(file, 'utf8').catch(() => undefined);
  if (before === undefined) await writeFile(file, settings);
  else if (before !== settings)
    throw new Error(
      `${dirname(file)} has the results of an evaluation with other settings:\n${before}\nChoose another --out, or delete the folder.`,
    );
}

/** Reads the results. A kill may have cut the last line; it is removed, and its run is repeated. */
async function readResults(file: string): Promise<RunResult[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) await truncate(file, Buffer.byteLength(text.slice(0, end)));
  return text
    .slice(0, end)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunResult);
}
