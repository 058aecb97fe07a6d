import type { EntityManager } from 'typeorm';
import type { App } from '../app.ts';
import { type Approvable, type HeldWait, Parked } from '../conversation/ending.ts';
import { newId } from '../db/ids.ts';
import type { RunRow } from '../db/tables/run.ts';
import { notRun, proofSentence } from '../domain/proof/proof.ts';
import { oneLine } from '../domain/text/sanitize.ts';
import { type AskedOfChange, approvalText } from '../domain/waiting.ts';
import { diffOf } from '../git/diff.ts';
import type { Message } from '../llm/model.ts';
import { findProject } from '../projects/store.ts';
import type { Journal } from '../runs/journal.ts';
import { park } from '../runs/waiting/park.ts';
import { findNews, findPause, holdChange, isApproved, listUnread, markRead } from '../runs/waiting/store.ts';
import type { StoredDiff } from '../tasks/work-store.ts';
import { changesOf, type TreeOf } from './leaving/changes.ts';
import { expectationsOf } from './proof/publish-proof.ts';
import { allWorks, type Work } from './work.ts';
import { parentsOf } from './workspace/workspace.ts';

/** At most this many changed files are listed for the approval. */
const maxListed = 300;
/** At most this many reasons for an approval are listed, each with at most this many characters. */
const [maxReasons, maxReasonChars] = [20, 500];

/** Returns whether a person has to approve whatever a run pushes: by its project, or by a repository that it has open. */
export async function needsApproval(app: App, work: Work): Promise<boolean> {
  if (allWorks(work).some(({ settings }) => settings.push === 'approved')) return true;
  return (await findProject(app.db.manager, work.run.projectId)).push === 'approved';
}

/** A change that a person may have to approve. */
export interface HeldChange {
  /** The changed repositories. */
  changed: Work[];
  treeOf: TreeOf;
  /** What was found in it that only a person may allow; see `judgeChanges`. */
  findings: string[];
}

/**
 * Returns if a run may push its change: nobody has to approve it, or somebody approved exactly this change with exactly these
 * findings. Where a proof is required, a person also approves that expectations changed.
 * @throws Parked otherwise; the run then waits for an approval
 */
export async function awaitPushApproval(app: App, work: Work, change: HeldChange): Promise<void> {
  const { changed, findings } = change;
  const shown = changed.filter(needsWord);
  const expectations = changedExpectations(work, shown);
  const isAsked = expectations.length + findings.length > 0 || (await needsApproval(app, work));
  if (!isAsked) return;
  const wanted = await approvableOf('push', change, shown);
  if (await mayPush(app, work, { wanted, change, expectations })) return noteApproval(changed);
  const { held, ...wait } = await waitFor(work, wanted, change, { setup: [], expectations });
  await work.journal.write(async (em) => {
    await holdChange(em, work.run, held.wanted, held.diff);
    await park(app, em, work.run, { ...wait, id: newId('wait'), seconds: null });
  });
  throw new Parked();
}

async function mayPush(
  app: App,
  work: Work,
  { wanted, change, expectations }: { wanted: Approvable; change: HeldChange; expectations: string[] },
): Promise<boolean> {
  // A worker that was stopped while it pushed had the approval.
  if ((await work.journal.steps('push')).length > 0) return true;
  if (await isApproved(app.db.manager, work.run.id, wanted)) return true;
  // The person who allowed set-up of exactly this change has seen all of it, but not yet what its tests say.
  return expectations.length === 0 && isSetupApproved(app, work, change);
}

/** Says in which repositories expectations changed. */
function changedExpectations(work: Work, shown: Work[]): string[] {
  return shown.map((each) => {
    const sentence = oneLine(proofSentence(each.evidence?.proof ?? notRun('')), maxReasonChars);
    return each === work ? sentence : `${each.repository.name}: ${sentence}`;
  });
}

/** Returns whether a repository requires a proof, and has one that only counts with the word of a person. */
function needsWord({ settings, evidence }: Work): boolean {
  return settings.proof === 'required' && evidence?.proof?.status === 'changed';
}

/** Remembers that a person has approved these files, with the expectations that changed. */
function noteApproval(changed: Work[]): void {
  for (const { evidence } of changed) if (evidence !== undefined) evidence.isApproved = true;
}

/** Returns whether a person allowed set-up of exactly this change to use the network of set-up. */
export async function isSetupApproved(app: App, work: Work, change: HeldChange): Promise<boolean> {
  return isApproved(app.db.manager, work.run.id, await approvableOf('setup', change));
}

/** Builds the wait for a person who allows set-up of this change to use the network of set-up. */
export async function setupWait(work: Work, change: HeldChange, reasons: string[]): Promise<HeldWait> {
  const wanted = await approvableOf('setup', change);
  const lines = reasons.map((reason) => reason.replace(/\p{Cc}/gu, '?').slice(0, maxReasonChars));
  const more = lines.length > maxReasons ? [`and ${lines.length - maxReasons} more`] : [];
  const setup = [...lines.slice(0, maxReasons), ...more];
  return waitFor(work, wanted, change, { setup, expectations: [] });
}

/** Builds the wait for an approval. Without reasons and findings it is for the push alone. */
async function waitFor(
  work: Work,
  wanted: Approvable,
  { changed, treeOf, findings }: HeldChange,
  reasons: Pick<AskedOfChange, 'setup' | 'expectations'>,
): Promise<HeldWait> {
  const text = approvalText({ ...reasons, findings, files: await listFiles(work, changed, treeOf) });
  return { reason: 'push', text, options: [], held: { wanted, diff: await diffOfHeld(work, changed, treeOf) } };
}

async function approvableOf(
  purpose: Approvable['purpose'],
  { changed, treeOf, findings }: HeldChange,
  shown: Work[] = [],
): Promise<Approvable> {
  const expectations = shown.map(expectationsOf);
  const wanted: Approvable = { purpose, trees: {}, parents: {}, findings, expectations };
  for (const each of changed) {
    wanted.trees[each.repository.id] = await treeOf(each);
    wanted.parents[each.repository.id] = parentsOf(each.branch);
  }
  return wanted;
}

async function listFiles(work: Work, changed: Work[], treeOf: TreeOf): Promise<string[]> {
  const paths: string[] = [];
  for (const each of changed) {
    const folder = folderOf(work, each);
    // A line break in a path would look like two files.
    for (const { path } of await changesOf(each, treeOf)) paths.push(`${folder}${path.replace(/\p{Cc}/gu, '?')}`);
  }
  const more = paths.length > maxListed ? [`and ${paths.length - maxListed} more`] : [];
  return [...paths.slice(0, maxListed), ...more];
}

/**
 * Returns the diff that the task shows while it waits, as the branches would be. The approval covers all repositories that
 * the run changed, so the diff shows them all.
 */
async function diffOfHeld(work: Work, changed: Work[], treeOf: TreeOf): Promise<StoredDiff> {
  const diff: StoredDiff = {
    files: [],
    truncated: false,
    branchName: work.branch.name,
    baseBranch: work.baseBranch,
    headSha: '',
  };
  for (const each of [work, ...changed.filter((other) => other !== work)]) {
    const { checkout, branch } = each;
    const from = (branch.continues ? await checkout.mergeBase(branch.base, branch.from) : undefined) ?? branch.from;
    const { files, truncated } = await diffOf(checkout, await checkout.treeOf(from), await treeOf(each));
    const inFolder = (path: string) => `${folderOf(work, each)}${path}`;
    for (const { previousPath: before, ...file } of files)
      diff.files.push({
        ...file,
        path: inFolder(file.path),
        ...(before === undefined ? {} : { previousPath: inFolder(before) }),
      });
    diff.truncated ||= truncated;
  }
  return diff;
}

/** Returns what precedes the paths of a repository where several are listed. */
const folderOf = (work: Work, each: Work) => (each === work ? '' : `../${each.repository.name}/`);

/** What people say to a run while its agent works, and whether they asked it to pause. */
export interface MessageInbox {
  /**
   * Returns the messages that the agent has not read yet.
   * @throws Parked when somebody asked the run to pause
   */
  readUnread(): Promise<Message[]>;
  /** Returns whether there are messages that the last `readUnread` did not return. */
  hasMore(): Promise<boolean>;
  /** Marks what the last `readUnread` returned as read before this turn. Call it in the transaction that stores the turn. */
  markRead(em: EntityManager, turn: number): Promise<void>;
}

export function openMessageInbox(app: App, run: RunRow, journal: Journal): MessageInbox {
  let heard: string[] = [];
  return {
    readUnread: async () => {
      const { isPaused, unread } = await findNews(app.db.manager, run.id);
      if (isPaused) await pause(app, run, journal);
      heard = unread.map(({ id }) => id);
      return unread.map(({ text }) => ({ role: 'user', content: text }));
    },
    hasMore: async () => (await listUnread(app.db.manager, run.id)).some(({ id }) => !heard.includes(id)),
    markRead: (em, turn) => markRead(em, heard, turn),
  };
}

/**
 * Lets a run wait if somebody asked it to pause.
 * @throws Parked in that case
 */
export async function pauseIfAsked(app: App, run: RunRow, journal: Journal): Promise<void> {
  if ((await findPause(app.db.manager, run.id)) !== undefined) await pause(app, run, journal);
}

/** @throws Parked if a run was asked to pause and nobody has withdrawn that */
async function pause(app: App, run: RunRow, journal: Journal): Promise<void> {
  const isPaused = await journal.write(async (em) => {
    // Read again under the lock of the run, because the pause may have been withdrawn.
    const text = await findPause(em, run.id);
    if (text !== undefined)
      await park(app, em, run, { id: newId('wait'), reason: 'paused', text, options: [], seconds: null });
    return text !== undefined;
  });
  if (isPaused) throw new Parked();
}
