import { RunFailed } from '../../domain/run.ts';
import { UnfitWorkTree } from '../../git/work-tree/unfit-work-tree.ts';
import type { Message } from '../../llm/model.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';
import type { Ending } from '../agent/loop.ts';
import type { Work } from '../publish/publish.ts';
import { checkText, failed, runChecks } from '../publish/verify.ts';
import { objectionsTo } from './outgoing-scan.ts';
import { protectedChanges } from './protected.ts';
import { stillTorn } from './search.ts';

/** A refused change goes back to the model once, failing checks three times. */
const maxRefusals = 1;
const maxCheckRounds = 3;
const refused = 'The change was refused before the push.';

/**
 * What speaks against ending a conversation, in words for the model: first what the host does not push, then the
 * own checks of each changed repository. How often it was said is counted in the conversation, so a crash forgets nothing.
 */
export function objectionOf(work: Work) {
  return async (ending: Ending, messages: Message[], host: ToolHost): Promise<string | undefined> => {
    const saidBefore = (beginning: string) =>
      messages.filter((m) => m.role === 'user' && m.content.startsWith(beginning)).length;
    const treeOf = readOnce();
    const found = await objections(work, treeOf).catch(unfit);
    if (found !== undefined)
      return saidBefore(refused) < maxRefusals ? `${refused} Mend it and call finish again:\n${found}` : undefined;
    ending.judged = treeOf;
    if (ending.subtasks !== undefined) return undefined;
    ending.checks = [];
    for (const each of [work, ...work.also]) {
      if ((await changesOf(each, treeOf)).length === 0) continue;
      const results = await runChecks(
        each.settings,
        each === work ? host : each.host,
        each.checkout,
        work.journal.note,
      );
      ending.checks.push(...results.map((result) => ({ ...result, repositoryId: each.repository.id })));
      if (failed(results) !== undefined) break;
    }
    const failing = failed(ending.checks);
    if (failing === undefined) return undefined;
    return saidBefore('The checks failed.') < maxCheckRounds ? checkText(failing) : undefined;
  };
}

/** A work tree that cannot be pushed as it is may be mended like any other change. */
function unfit(error: unknown): string {
  if (error instanceof UnfitWorkTree) return `- ${error.message}`;
  throw error;
}

/** The tree of a repository's files; asked once where they cannot change in between. */
export type TreeOf = (work: Work) => Promise<string>;

/** One reading of each repository, for several questions in a row. */
export function readOnce(): TreeOf {
  const trees = new Map<Work, Promise<string>>();
  return (work) => {
    const known = trees.get(work) ?? work.checkout.snapshot();
    trees.set(work, known);
    return known;
  };
}

/** What a run changed since the commit it began from. */
export async function changesOf(work: Work, treeOf: TreeOf) {
  return work.checkout.changes(await work.checkout.treeOf(work.branch.from), await treeOf(work));
}

/** Named to the model and to people; the rest is counted. */
const maxNamed = 50;

/** What the host has against pushing the change, a line per file, over all repositories; undefined when nothing. */
export async function objections(work: Work, treeOf: TreeOf): Promise<string | undefined> {
  const all: string[] = [];
  for (const each of [work, ...work.also]) {
    const changes = await ownChanges(each, treeOf);
    const found = [
      ...(await protectedChanges(each.settings, changes, each)),
      ...(await objectionsTo(each.checkout, changes, each.secrets, each.branch.conflicts)),
    ];
    const where = each === work ? '' : `../${each.repository.name}/`;
    all.push(...found.map(({ path, reason }) => `- ${where}${shownPath(path)} ${reason}`));
  }
  if (all.length === 0) return undefined;
  // Last, so that whatever else there is gets named.
  all.sort((a, b) => Number(isConflict(a)) - Number(isConflict(b)));
  const more = all.length > maxNamed ? [`- and ${all.length - maxNamed} more`] : [];
  return [...all.slice(0, maxNamed), ...more].join('\n');
}

/** The failure of a run whose change is not pushed. Conflicts alone go away when the base is merged in again. */
export function rejection(objections: string): RunFailed {
  return new RunFailed(isConflict(objections.split('\n', 1)[0] ?? '') ? 'conflict' : 'push_rejected', objections);
}

function isConflict(line: string): boolean {
  return line.endsWith(stillTorn);
}

/** A name may hold line breaks, which would look like another line of ours. */
function shownPath(path: string): string {
  return path.replace(/\p{Cc}/gu, '?').slice(0, 300);
}

/**
 * Of a merge only what differs both from the two sides joined and from the base branch: what comes from the base was
 * accepted there, and a change that takes it back is the agent's own. So is a conflict that was left as it was.
 */
async function ownChanges(work: Work, treeOf: TreeOf) {
  const { checkout, branch } = work;
  if (branch.conflicts === undefined) return changesOf(work, treeOf);
  const tree = await treeOf(work);
  const { tree: joined } = await checkout.merge(branch.from, branch.base);
  const sinceJoined = new Map((await checkout.changes(joined, tree)).map((change) => [change.path, change]));
  const sinceBase = await checkout.changes(await checkout.treeOf(branch.base), tree);
  const conflicts = new Set(branch.conflicts);
  return sinceBase.flatMap((change) => sinceJoined.get(change.path) ?? (conflicts.has(change.path) ? change : []));
}
