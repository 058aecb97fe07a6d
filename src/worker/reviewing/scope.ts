import type { EntityManager } from 'typeorm';
import { type ChangedLines, changedLinesOf, type FileInDiff, newSince } from '../../domain/reviewing/changed-lines.ts';
import type { Choosing } from '../../domain/reviewing/choose-comments.ts';
import { diffOf } from '../../git/diff.ts';
import type { FileDiff } from '../../git/diff-files.ts';
import { findLastReview, listPostedNotes, type PullAsk, type ReviewNote } from '../../runs/reviewing/store.ts';
import type { Work } from '../work.ts';

/** What a review may speak of. */
export interface Scope extends Choosing {
  files: FileDiff[];
  /** Our comments of earlier reviews, newest first. */
  notes: ReviewNote[];
  /** The number of earlier reviews. */
  rounds: number;
}

/**
 * Finds out which lines a review may speak of: those that the pull request changes and, unless a person asked for something
 * in particular, that are new since the last review. After a push by force the reviewed commit may be gone; then every
 * changed line counts as new, and only what was said before is left out.
 */
export async function scopeOf(em: EntityManager, work: Work, ask: PullAsk): Promise<Scope> {
  const { checkout, branch, run } = work;
  const files = await diffOfPull(work, branch.base, branch.from);
  const changed = changedLinesOf(files);
  const notes = await listPostedNotes(em, ask);
  const last = await findLastReview(em, ask);
  const scope = { files, changed, notes, earlier: notes, rounds: last?.rounds ?? 0 };
  const isAsked = run.instructions !== '';
  if (last === undefined || isAsked) return { ...scope, allowed: changed };
  if (last.headSha === branch.from) return { ...scope, allowed: new Map() };
  if (!(await work.retrying(() => checkout.fetchCommit(last.headSha)))) return { ...scope, allowed: changed };
  const before = changedLinesOf(await diffOfPull(work, branch.base, last.headSha));
  const since = await treeDiff(work, last.headSha, branch.from);
  return { ...scope, allowed: newSince(changed, since, before) };
}

/** Returns the changes of a pull request as GitHub shows them: since its branch left the base branch. */
async function diffOfPull(work: Work, base: string, head: string): Promise<FileDiff[]> {
  const { checkout, retrying } = work;
  const from = (await retrying(() => checkout.mergeBase(base, head))) ?? base;
  return (await diffOf(checkout, from, head)).files;
}

async function treeDiff({ checkout }: Work, from: string, to: string): Promise<FileInDiff[]> {
  return (await diffOf(checkout, from, to)).files;
}

/** Whether there is a line that may be commented on. */
export function isEmpty(allowed: ChangedLines): boolean {
  return [...allowed.values()].every(({ LEFT, RIGHT }) => LEFT.size + RIGHT.size === 0);
}
