import { RunFailed } from '../domain/run.ts';
import { pathsMatching } from '../repositories/settings/repository-settings.ts';
import { problemWithPattern } from '../repositories/settings/schema.ts';

/** Names that no repository has. Patterns that match all of them match everything. */
const unlikely = ['\u0001', '\u0001/\u0002', '\u0001/\u0002/\u0003.\u0004', '.\u0001/\u0002'];

/** Says what is wrong with the files that a plan names; undefined when a change can be compared with them. */
export async function problemWithFiles(files: string[], matching = pathsMatching): Promise<string | undefined> {
  const patterns = files.map(plainPattern);
  for (const [i, pattern] of patterns.entries()) {
    const problem = problemWithPattern(pattern);
    if (problem !== undefined) return `files: ${JSON.stringify(files[i])} ${problem}`;
  }
  try {
    if ((await matching('files', patterns, unlikely)).size < unlikely.length) return undefined;
  } catch (error) {
    if (error instanceof RunFailed) return 'files: they take too long to compare; name fewer files, or their folders';
    throw error;
  }
  return 'files: they match every file, so nobody could tell whether the change keeps to the plan; name the files or their folders';
}

/** Returns the changed files that a plan does not name. A folder stands for everything below it. */
export async function filesNotPlanned(
  planned: string[],
  changed: string[],
  matching = pathsMatching,
): Promise<string[]> {
  try {
    const named = await matching('files', planned.map(plainPattern), changed.map(plainPattern));
    return changed.filter((path) => !named.has(plainPattern(path)));
  } catch (error) {
    // Comparing takes too long. It is better to list too much than to hide something.
    if (error instanceof RunFailed) return changed;
    throw error;
  }
}

/** Returns a pattern relative to the root of the repository. Another repository is at `../<name>/`. */
function plainPattern(given: string): string {
  return given
    .replace(/^\.\.\//, '…/')
    .replace(/^\.?\//, '')
    .replace(/\/$/, '');
}
