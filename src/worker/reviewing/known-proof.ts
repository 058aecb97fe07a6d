import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { Judged } from '../../domain/proof/proof.ts';
import { changesIfFew } from '../../git/diff.ts';
import type { Checkout } from '../../git/engine.ts';
import { decidingSettings } from '../../repositories/settings/repository-settings.ts';
import type { Journal } from '../../runs/journal.ts';
import { maxJudgedCommits } from '../../runs/pull-proofs/outdated-proofs.ts';
import { findKnownProof, type ProofNote } from '../../runs/pull-proofs/pull-proofs.ts';
import type { PullAsk } from '../../runs/reviewing/store.ts';
import { testFilesAmong } from '../proof/tested-change.ts';
import type { RetryPolicy } from '../retry.ts';
import { baseOfChange } from '../workspace/base-of-change.ts';
import type { Placed } from '../workspace/workspace.ts';

/** What is known about a pull request before anything is tried. */
export interface Known {
  /** Identifies everything that decides about the proof. */
  fingerprint: string;
  /** Whether the pull request changes files of tests. Without, nothing has to be tried. */
  changesTests: boolean;
  /** See `JudgedPull`. */
  commits: string[];
  /** The commit from which the pull request differs; undefined in runs of an earlier release. */
  base?: string;
  /** What was proved about exactly the same files with the same settings. */
  proved?: { proof: Judged; notes: ProofNote[]; headSha: string };
}

/** The step that holds it. */
export const knownStep = 'proof known';

/** Looks up, once in a run, whether something has to be tried to prove a pull request. */
export function lookUpProof(
  em: EntityManager,
  { checkout, placed }: { checkout: Checkout; placed: Placed },
  { ask, journal, retrying, isAsked }: { ask: PullAsk; journal: Journal; retrying: RetryPolicy; isAsked: boolean },
): Promise<Known> {
  return journal.once(knownStep, async () => {
    const { branch, settings } = placed;
    const base = await baseOfChange({ ...placed, checkout, retrying });
    const changed = (await changesIfFew(checkout, base, branch.from))?.map(({ path }) => path);
    const isTest = await testFilesAmong({ settings }, changed ?? []);
    // Code of strangers runs without submodules and files in Git LFS.
    const isForeign = ask.isFork || ask.isForeign === true;
    const trees = [await checkout.treeOf(base), await checkout.treeOf(branch.from)];
    const fingerprint = fingerprintOf(trees, { settings, isForeign });
    // A person who asks wants to know what the tests do now.
    const found = isAsked ? undefined : await findKnownProof(em, ask.repositoryId, fingerprint);
    const commits = await checkout.commitsSince(base, branch.from, maxJudgedCommits + 1);
    const known = {
      fingerprint,
      changesTests: changed === undefined || changed.some(isTest),
      commits: commits.filter((each) => each !== branch.from),
      base,
    };
    if (found === undefined) return known;
    const { notes, headSha, ...proof } = found;
    return { ...known, proved: { proof, notes, headSha } };
  });
}

/**
 * Identifies everything that decides about a proof: the settings, whether it is code of a stranger, and all files of both sides. A
 * program may read any of them, whatever its name.
 */
function fingerprintOf(
  trees: string[],
  { settings, isForeign }: Pick<Placed, 'settings'> & { isForeign: boolean },
): string {
  const deciding = [trees, isForeign, decidingSettings(settings)];
  return createHash('sha256').update(JSON.stringify(deciding)).digest('base64url');
}
