import type { CheckResult } from '../../conversation/ending.ts';
import { notRun, type Proof } from '../../domain/proof/proof.ts';
import type { ChosenRemark } from '../../domain/reviewing/choose-comments.ts';
import { RunFailed } from '../../domain/run.ts';
import { SetupNeedsApproval } from '../../environment/change/read-manifests.ts';
import type { PullAsk } from '../../runs/reviewing/store.ts';
import { checkTwice } from '../proof/compare-tries.ts';
import { proveChange, together, tryEarlierTests } from '../proof/prove.ts';
import { checkSeconds, firstFailure, runChecks } from '../proof/run-checks.ts';
import type { Work } from '../work.ts';

/** The results of the checks of a pull request, or why they did not run, as the end of a sentence. */
export type TriedChecks = { checks: CheckResult[] } | { why: string };

/** Runs the checks of a repository on the head of a pull request, and beside them the earlier tests, for its proof. */
export async function tryChecks(work: Work, ask: PullAsk): Promise<TriedChecks> {
  const { settings, journal, branch, checkout } = work;
  const why = whyNotTried(work, ask);
  if (why !== undefined) return { why };
  return journal.once('review checks', async () => {
    const tree = await checkout.treeOf(branch.from);
    const [checks] = await together(
      attempt(work, tree, checkTwice),
      tryEarlierTests(work, tree, checkSeconds * settings.checks.length),
    );
    return checks;
  });
}

/** Returns why the checks of a pull request may not or cannot run; undefined if they can. */
export function whyNotTried({ settings, host }: Work, { isFork, byWriter }: PullAsk): string | undefined {
  if (settings.checks.length === 0) return 'the repository has no checks in .deckhand.yml';
  if (!host.hasShell) return 'commands cannot run without a working sandbox';
  return isFork && !byWriter
    ? 'the branch is in a fork, and nobody with write permission has asked for this review'
    : undefined;
}

async function attempt(work: Work, tree: string, check = runChecks): Promise<TriedChecks> {
  try {
    return { checks: await check(work, tree) };
  } catch (error) {
    // Nobody is asked to allow code of somebody else to use the network of set-up.
    if (error instanceof SetupNeedsApproval)
      return { why: 'the pull request changes what set-up does, which a person would have to allow' };
    if (isOfRun(work, error)) throw error;
    return { why: (error as RunFailed).failure.message };
  }
}

/** Whether an error ends the run, rather than only the attempt of its checks. */
function isOfRun({ signal, environment }: Work, error: unknown): boolean {
  if (!(error instanceof RunFailed) || signal.aborted || environment.context.signal.aborted) return true;
  return !['sandbox', 'setup'].includes(error.failure.category);
}

/** Returns what the tests of a pull request prove, where that can be tried. */
export function provePull(work: Work, tried: TriedChecks): Promise<Proof> {
  return work.journal.once('review proof', async () => {
    if ('why' in tried) return notRun(tried.why);
    const failing = firstFailure(tried.checks);
    if (failing !== undefined) return notRun(`the check "${failing.command}" fails`);
    const tree = await work.checkout.treeOf(work.branch.from);
    return (await proveChange(work, tree, tried.checks)).proof;
  });
}

/**
 * Tries the suggestions of a review: each must apply, and where the repository has checks, they must pass with it. First all
 * of them together, and if the checks fail then, each alone. Returns the comments; a suggestion that fails is left out, and
 * its text stays.
 */
export async function withTriedSuggestions(
  work: Work,
  remarks: ChosenRemark[],
  tried: TriedChecks,
): Promise<ChosenRemark[]> {
  const { keep } = await work.journal.once('review suggestions', async () => ({
    keep: await suggestionsToKeep(work, remarks, tried),
  }));
  return remarks.map((remark, i) => {
    const { suggestion: _, ...text } = remark;
    return keep.includes(i) ? remark : text;
  });
}

async function suggestionsToKeep(work: Work, remarks: ChosenRemark[], tried: TriedChecks): Promise<number[]> {
  const applied: number[] = [];
  for (const [i, remark] of remarks.entries())
    if (remark.suggestion !== undefined && (await treeWith(work, [remark])) !== undefined) applied.push(i);
  if (applied.length === 0 || work.settings.checks.length === 0) return applied;
  // Where the checks fail already or cannot run, nobody knows what they would say about a suggestion.
  if ('why' in tried || firstFailure(tried.checks) !== undefined) return [];
  const pass = async (some: number[]) => {
    const tree = await treeWith(
      work,
      some.map((i) => remarks[i] as ChosenRemark),
    );
    if (tree === undefined) return false;
    const result = await attempt(work, tree);
    return 'checks' in result && firstFailure(result.checks) === undefined;
  };
  if (await pass(applied)) return applied;
  if (applied.length === 1) return [];
  const kept: number[] = [];
  for (const i of applied) if (await pass([i])) kept.push(i);
  return kept;
}

/**
 * Returns the tree of the head with some suggestions applied. Undefined if one of them does not apply: its line is not there,
 * was removed, or is as the suggestion wants it.
 */
async function treeWith({ checkout, branch }: Work, remarks: ChosenRemark[]): Promise<string | undefined> {
  const all = await checkout.files(branch.from);
  const tree = await checkout.treeOf(branch.from);
  const files = [];
  for (const [path, own] of Map.groupBy(remarks, (remark) => remark.path)) {
    const file = all.get(path);
    const content = await checkout.readFile(branch.from, path);
    if (file === undefined || content === undefined || content === 'too large') return undefined;
    if (file.mode !== '100644' && file.mode !== '100755') return undefined;
    const changed = applied(content.toString('utf8'), own);
    if (changed === undefined) return undefined;
    files.push({ path, mode: file.mode, oid: await checkout.writeBlob(Buffer.from(changed)) });
  }
  return checkout.replaceFiles(tree, files);
}

function applied(text: string, remarks: ChosenRemark[]): string | undefined {
  const lines = text.split('\n');
  for (const { line, side, quote, suggestion } of remarks) {
    const now = lines[line - 1];
    if (side !== 'RIGHT' || suggestion === undefined || now === undefined) return undefined;
    if (now.replace(/\r$/, '') !== quote.replace(/\r$/, '') || suggestion === quote) return undefined;
    // A file with CRLF keeps it.
    const end = now.endsWith('\r') ? '\r' : '';
    lines[line - 1] = suggestion.replace(/\r?\n$/, '').replace(/\r?\n/g, `${end}\n`) + end;
  }
  return lines.join('\n');
}
