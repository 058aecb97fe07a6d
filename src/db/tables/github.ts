import { big, key, madeNow, maybeText, maybeTime, table, text, whole } from './table.ts';

export type InstallationStatus = 'active' | 'suspended' | 'deleted' | 'ignored';
/** An account on GitHub that installed the App. */
export interface InstallationRow {
  accountId: number;
  installationId: number;
  accountLogin: string;
  accountType: 'User' | 'Organization';
  projectId: string | null;
  status: InstallationStatus;
  /** What keeps an active installation from working; null when nothing does. */
  problem: 'refused' | 'missing_permissions' | null;
  problemReason: string | null;
  problemSince: Date | null;
  updatedAt: Date;
}
export const Installations = table<InstallationRow>('installations', {
  accountId: big({ primary: true }),
  installationId: big(),
  accountLogin: text(),
  accountType: text(),
  projectId: maybeText(),
  status: text(),
  problem: maybeText(),
  problemReason: maybeText(),
  problemSince: maybeTime(),
  updatedAt: madeNow(),
});

/** The state of a task that one issue or pull request shows on GitHub. */
export interface MirroredRow {
  taskId: string;
  repositoryId: string;
  number: number;
  commentId: number | null;
  shown: string | null;
  shownAt: Date | null;
  notice: string;
  checkRunId: number | null;
  checkSha: string | null;
  checkShown: string | null;
  trippedUntil: Date | null;
  /** The milestone that we set last. */
  milestone: number | null;
  /** A digest of everything that is shown, including steps and costs. */
  shownProgress: string | null;
}
export const Mirrored = table<MirroredRow>('mirrored', {
  taskId: text(),
  repositoryId: key(),
  number: whole({ primary: true }),
  commentId: big({ nullable: true }),
  shown: maybeText(),
  shownAt: maybeTime(),
  notice: text({ default: '' }),
  checkRunId: big({ nullable: true }),
  checkSha: maybeText(),
  checkShown: maybeText(),
  trippedUntil: maybeTime(),
  milestone: whole({ nullable: true }),
  shownProgress: maybeText(),
});

/** What a deleted task left on GitHub. */
export interface LeftoverRow {
  taskId: string;
  repositoryId: string;
  number: number;
  branch: string | null;
  commentId: number | null;
  milestone: number | null;
  at: Date;
}
export const Leftovers = table<LeftoverRow>('leftovers', {
  taskId: key(),
  repositoryId: key(),
  number: whole({ primary: true }),
  branch: maybeText(),
  commentId: big({ nullable: true }),
  milestone: whole({ nullable: true }),
  at: madeNow(),
});

/** What GitHub does to merge a pull request when it is ready. */
export interface MergeRow {
  repositoryId: string;
  number: number;
  /** `waiting` for its auto-merge, or `queued` in its merge queue; null when GitHub does not merge it now. */
  state: 'waiting' | 'queued' | null;
  since: Date | null;
  /** What it waits for. */
  reason: string | null;
  /** The user who asked for it here; null when somebody asked on GitHub. */
  askedBy: string | null;
  /** The commit that they asked for. */
  headSha: string | null;
  /** The branch into which they asked to merge it. */
  base: string | null;
  /** How many times the branch was brought up to date since. */
  updates: number;
  /** Why it was stopped. */
  dropped: string | null;
}
export const Merges = table<MergeRow>('merges', {
  repositoryId: key(),
  number: whole({ primary: true }),
  state: maybeText(),
  since: maybeTime(),
  reason: maybeText(),
  askedBy: maybeText(),
  headSha: maybeText(),
  base: maybeText(),
  updates: whole({ default: 0 }),
  dropped: maybeText(),
});
