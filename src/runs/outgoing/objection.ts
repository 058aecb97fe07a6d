import { RunFailed } from '../../domain/run.ts';
import { allWorks, type Work } from '../work.ts';
import { ownChangesOf, type TreeOf } from './changes.ts';
import { objectionsTo } from './outgoing-scan.ts';
import { protectedChanges } from './protected.ts';
import { unresolved } from './search.ts';

/** At most this many files are named to the model and to people. The others are counted. */
const maxNamed = 50;

/**
 * Explains why the host will not push the changes of a run, one line per file of any repository. Returns undefined when
 * it will push them.
 */
export async function objections(work: Work, treeOf: TreeOf): Promise<string | undefined> {
  const lines: string[] = [];
  for (const each of allWorks(work)) {
    const changes = await ownChangesOf(each, treeOf);
    const found = [
      ...(await protectedChanges(each.settings, changes, each)),
      ...(await objectionsTo(each.checkout, changes, each.secrets, {
        conflicts: each.branch.conflicts,
        signal: each.signal,
      })),
    ];
    const folder = each === work ? '' : `../${each.repository.name}/`;
    lines.push(...found.map(({ path, reason }) => `- ${folder}${onOneLine(path)} ${reason}`));
  }
  if (lines.length === 0) return undefined;
  // Conflicts come last, so that the cut never hides any other objection.
  lines.sort((a, b) => Number(isConflict(a)) - Number(isConflict(b)));
  const more = lines.length > maxNamed ? [`- and ${lines.length - maxNamed} more`] : [];
  return [...lines.slice(0, maxNamed), ...more].join('\n');
}

/**
 * Builds the failure of a run whose change is not pushed. If unresolved conflicts are the only objection, its category
 * is `conflict`, because a retry merges the base branch again.
 */
export function rejection(objections: string): RunFailed {
  const [first = ''] = objections.split('\n');
  return new RunFailed(isConflict(first) ? 'conflict' : 'push_rejected', objections);
}

function isConflict(line: string): boolean {
  return line.endsWith(unresolved);
}

/** Replaces control characters: a line break in a file name would look like the start of another objection. */
function onOneLine(path: string): string {
  return path.replace(/\p{Cc}/gu, '?').slice(0, 300);
}
