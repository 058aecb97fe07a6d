import { big, key, madeNow, maybeText, maybeTime, table, text, time, whole } from './table.ts';

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

/** Webhook deliveries, stored before they are handled. The payload is text, because jsonb refuses \u0000. */
export interface DeliveryRow {
  guid: string;
  event: string;
  signature: string;
  payload: string;
  /** The id of the installation that it is for. */
  account: string | null;
  receivedAt: Date;
  handledAt: Date | null;
}
export const Deliveries = table<DeliveryRow>('deliveries', {
  guid: key(),
  event: text(),
  signature: text(),
  payload: text(),
  account: maybeText(),
  receivedAt: madeNow(),
  handledAt: maybeTime(),
});

/** Commands in comments that have been handled, so that each is handled once. */
export interface HandledCommandRow {
  key: string;
  at: Date;
}
export const HandledCommands = table<HandledCommandRow>('handled_commands', {
  key: key(),
  at: madeNow(),
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

/** When a task was last compared with GitHub in a repository. */
export interface ComparedRow {
  repositoryId: string;
  taskId: string;
  comparedAt: Date;
}
export const Compared = table<ComparedRow>('compared', {
  repositoryId: key(),
  taskId: key(),
  comparedAt: time(),
});

/** Our recent writes to an issue. The table has no primary key, so TypeORM never reads or writes it by entity. */
export interface MirrorWriteRow {
  repositoryId: string;
  number: number;
  at: Date;
}
export const MirrorWrites = table<MirrorWriteRow>('mirror_writes', {
  repositoryId: key(),
  number: whole({ primary: true }),
  at: time({ primary: true, default: () => 'now()' }),
});

/** The earliest time of the next write to an installation. */
export interface GitHubPaceRow {
  installationId: number;
  nextWriteAt: Date;
  parkedUntil: Date;
  hour: Date;
  hourWrites: number;
}
export const GitHubPaces = table<GitHubPaceRow>('github_pace', {
  installationId: big({ primary: true }),
  nextWriteAt: madeNow(),
  parkedUntil: madeNow(),
  hour: time({ default: () => "'-infinity'" }),
  hourWrites: whole({ default: 0 }),
});

/** The position up to which a source that is polled has been read. */
export interface ReadMarkRow {
  name: string;
  mark: string;
  at: Date;
}
export const ReadMarks = table<ReadMarkRow>('read_marks', {
  name: key(),
  mark: text(),
  at: madeNow(),
});

/** The App that the setup page created; at most one row. */
export interface StoredAppRow {
  appId: number;
  slug: string;
  clientId: string;
  keyId: string;
  ciphertext: Buffer;
  createdAt: Date;
}
export const StoredApps = table<StoredAppRow>('github_app', {
  appId: big({ primary: true }),
  slug: text(),
  clientId: text(),
  keyId: text(),
  ciphertext: { type: 'bytea' },
  createdAt: madeNow(),
});

/** One-time codes of the setup page. */
export interface SetupCodeRow {
  codeDigest: string;
  createdAt: Date;
}
export const SetupCodes = table<SetupCodeRow>('setup_codes', {
  codeDigest: key(),
  createdAt: madeNow(),
});

/** Sign-ins in progress. The table has only digests, so reading it is not enough to complete a sign-in. */
export interface SignInRow {
  stateDigest: string;
  browserDigest: string;
  verifier: string;
  returnTo: string;
  createdAt: Date;
}
export const SignIns = table<SignInRow>('sign_ins', {
  stateDigest: key(),
  browserDigest: text(),
  verifier: text(),
  returnTo: text(),
  createdAt: madeNow(),
});
