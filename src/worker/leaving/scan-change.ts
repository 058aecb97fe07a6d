import { setImmediate } from 'node:timers/promises';
import { isInGitFolder, seenAs } from '../../domain/protected/protected-paths.ts';
import { bareNeedlesOf, containsSome, flat, needlesOf, oncePerSecrets } from '../../domain/secrets.ts';
import { blobsOf } from '../../git/diff.ts';
import type { Change, Checkout } from '../../git/engine.ts';
import { apart } from '../../threads/apart.ts';
import { OverLimit } from '../../threads/start-thread.ts';
import { type Contents, type Found, search, searchChanged, type Wanted } from './search.ts';

/** A changed file that must not be pushed, or not before a person has allowed it, and why. */
export interface Objection {
  path: string;
  /** Worded to follow the path. It names no secret. */
  reason: string;
  /** The number of the line, where that helps. */
  line?: number | undefined;
  /** Whether a person may allow it. */
  mayBeAllowed?: true;
}

/** Larger changed files are refused. */
const maxFileBytes = 5_000_000;
/** Files in Git LFS may be as large as a snapshot allows. Searching 20 MB takes 2.5 s. */
const maxLargeBytes = 20_000_000;
/** The maximum length of a symbolic link's target on Linux. */
const maxLinkBytes = 4096;
/**
 * Files read and searched at the same time. They need at most 40 MB, plus the same for the old contents of files with
 * tokens.
 */
const filesAtOnce = 8;
/**
 * Contents up to this size together are searched in the main thread. That takes some 10 ms, and copying them to a
 * worker thread may take longer.
 */
const inPlaceBytes = 200_000;

/** Searching 5 MB takes at most 0.6 s. */
const searching = apart<typeof import('./search.ts')>(new URL('./search.ts', import.meta.url), {
  seconds: 30,
  heapMb: 256,
});

interface ScanOptions {
  conflicts?: string[] | undefined;
  signal?: AbortSignal | undefined;
  /** Returns why a person has to allow that a submodule moves; undefined if nobody has to. By default, always. */
  reasonOfMove?(move: Change): string | undefined;
}

/**
 * Checks the changes that a run is about to push. Reads git's objects rather than the workspace, so that nothing can
 * change between the check and the push. `secrets` are the live credentials that the run may have seen. `conflicts` are
 * the files that had conflicts.
 * @throws the reason of the signal
 */
export async function objectionsTo(
  checkout: Checkout,
  changes: Change[],
  secrets: string[],
  { conflicts = [], signal, reasonOfMove = movedReason }: ScanOptions = {},
): Promise<Objection[]> {
  const objections: Objection[] = [];
  const wanted = wantedFor(secrets);
  const conflicted = new Set(conflicts);
  for (let at = 0; at < changes.length; at += filesAtOnce) {
    signal?.throwIfAborted();
    const some = changes.slice(at, at + filesAtOnce);
    const byPath = some.map((change) => objectionToPath(change, wanted) ?? objectionToMove(change, reasonOfMove));
    const left = some.filter((change, i) => byPath[i] === undefined && isFile(change.newMode));
    const isLarge = ({ newOid }: Change) => checkout.largeFiles?.isNew(newOid) === true;
    const small = left.filter((change) => !isLarge(change));
    const byContents = await objectionsToContents(checkout, small, wanted, conflicted);
    // One by one, because they may be large.
    for (const change of left.filter(isLarge))
      for (const [path, found] of await objectionsToContents(checkout, [change], wanted, conflicted))
        byContents.set(path, found);
    for (const [i, { path }] of some.entries()) {
      const found = byPath[i];
      objections.push(...(found === undefined ? (byContents.get(path) ?? []) : [found]));
    }
    // A large change takes seconds, so other requests are served between two batches.
    await setImmediate();
  }
  return objections;
}

const wantedFor = oncePerSecrets((secrets): Wanted => ({ flat: needlesOf(secrets), bare: bareNeedlesOf(secrets) }));

function objectionToPath(change: Change, wanted: Wanted): Objection | undefined {
  const { path } = change;
  const reason = reasonAgainstPath(change, wanted);
  return reason === undefined ? undefined : { path, reason };
}

function objectionToMove(change: Change, reasonOfMove: (move: Change) => string | undefined): Objection | undefined {
  const reason = isMove(change) ? reasonOfMove(change) : undefined;
  return reason === undefined ? undefined : { path: change.path, reason, mayBeAllowed };
}

function reasonAgainstPath(change: Change, wanted: Wanted): string | undefined {
  const { path, newMode } = change;
  if (newMode !== '000000' && containsSome(flat(Buffer.from(path)), wanted.flat))
    return 'has a live credential in its name';
  if (path.split('/').includes('..') || isInGitFolder(path)) return "is inside git's own folder";
  if (newMode === '120000' && /(^|\/)\.git(modules|attributes|ignore)$/.test(seenAs(path)))
    return 'is a symbolic link where git expects a file';
  return newMode === submoduleMode && !isMove(change) ? 'is a submodule, which agents may not add' : undefined;
}

const submoduleMode = '160000';
const isFile = (mode: string) => mode !== '000000' && mode !== submoduleMode;
const isMove = ({ oldMode, newMode }: Change) => oldMode === submoduleMode && newMode === submoduleMode;

/** Says that a submodule moves, worded to follow its path. */
export function movedReason({ oldOid, newOid }: Change): string {
  return `is a submodule that moves from ${oldOid.slice(0, 12)} to ${newOid}`;
}

async function objectionsToContents(
  checkout: Checkout,
  changes: Change[],
  wanted: Wanted,
  conflicted: Set<string>,
): Promise<Map<string, Objection[]>> {
  const objections = new Map<string, Objection[]>();
  const isNew = (oid: string) => checkout.largeFiles?.isNew(oid) === true;
  const blobs = await withLarge(checkout, await blobsOf(checkout, changes, 'new', maxFileBytes), isNew);
  const searched: [Change, Contents][] = [];
  for (const change of changes) {
    const { path, newMode: mode } = change;
    const bytes = blobs.get(change.newOid);
    const reason = bytes === undefined ? `has more than ${maxFileBytes} bytes` : objectionToLink(change, bytes);
    if (reason !== undefined) objections.set(path, [{ path, reason }]);
    else if (bytes !== undefined) searched.push([change, { path, mode, bytes, hadConflict: conflicted.has(path) }]);
  }
  const found = await searchAll(searched, wanted);
  // Old contents may be many times larger than the change, so they are read only where they decide.
  const dependsOnOld = (each: Found | undefined) => each?.isProgram || each?.isToken || (each?.tokens.length ?? 0) > 0;
  const again = searched.filter(([{ oldMode }], i) => oldMode !== '000000' && dependsOnOld(found[i]));
  const old = again.map(([change]) => change);
  const before = await withLarge(checkout, await blobsOf(checkout, old, 'old', maxFileBytes));
  for (const [i, [change, contents]] of searched.entries()) {
    const earlier = dependsOnOld(found[i]) ? before.get(change.oldOid) : undefined;
    const last = earlier === undefined ? found[i] : await searchAgain(contents, earlier, change.oldMode);
    if (last !== undefined) objections.set(change.path, objectionsOf(change.path, last));
  }
  return objections;
}

function objectionsOf(path: string, { reason, tokens, isToken }: Found): Objection[] {
  const refused = reason === undefined ? [] : [{ path, reason }];
  if (isToken) return refused;
  return [...refused, ...tokens.map(({ what, line }) => ({ path, line, reason: looksLike(what), mayBeAllowed }))];
}

const mayBeAllowed = true as const;
const looksLike = (what: string) => `contains what looks like ${what}`;

/** Puts contents in the place of those pointers whose contents are here. */
async function withLarge(
  { largeFiles }: Checkout,
  blobs: Map<string, Buffer>,
  isWanted: (oid: string) => boolean = () => true,
): Promise<Map<string, Buffer>> {
  for (const oid of [...blobs.keys()].filter(isWanted)) {
    const content = await largeFiles?.contentOf(oid, maxLargeBytes);
    if (content !== undefined) blobs.set(oid, content);
  }
  return blobs;
}

async function searchAll(files: [Change, Contents][], wanted: Wanted): Promise<(Found | undefined)[]> {
  const contents = files.map(([, each]) => each);
  return whereItFits(
    contents.map(({ bytes }) => bytes),
    () => search(contents, wanted),
    () => searching.call('search', contents, wanted).catch((error) => contents.map(() => tooSlow(error))),
  );
}

function searchAgain(contents: Contents, old: Buffer, oldMode: string): Promise<Found | undefined> {
  return whereItFits(
    [contents.bytes, old],
    () => searchChanged(contents, old, oldMode),
    () => searching.call('searchChanged', contents, old, oldMode).catch(tooSlow),
  );
}

/** Searches small contents `here`, in the main thread, and others `inThread`. */
export async function whereItFits<R>(contents: Uint8Array[], here: () => R, inThread: () => Promise<R>): Promise<R> {
  return contents.reduce((sum, { length }) => sum + length, 0) <= inPlaceBytes ? here() : inThread();
}

/** Says that files were not searched in time. @throws any other error */
export function tooSlow(error: unknown): Found {
  if (error instanceof OverLimit) return { reason: 'takes too long to search for credentials', tokens: [] };
  throw error;
}

function objectionToLink({ path, newMode }: Change, content: Buffer): string | undefined {
  if (newMode !== '120000') return undefined;
  const leavesIt = 'is a symbolic link out of the repository';
  if (content.length > maxLinkBytes) return leavesIt;
  const target = content.toString();
  if (leadsOut(path, target)) return leavesIt;
  return isInGitFolder(target) ? "is a symbolic link into git's own folder" : undefined;
}

/** Longer text is not sent to other servers. Searching this much takes at most 10 ms. */
const maxSentChars = 100_000;

/**
 * Returns why a value must not be sent to another server, worded to follow its name, or undefined when it may be sent.
 * Searches the strings in it as well as its JSON, in which some characters are escaped.
 */
export function objectionToSending(value: unknown, secrets: string[]): string | undefined {
  const strings: string[] = [];
  const json = JSON.stringify(value, (key, each) => {
    strings.push(key, typeof each === 'string' ? each : '');
    return each;
  });
  if (json.length > maxSentChars) return `have more than ${maxSentChars} characters`;
  const texts = [json, strings.join('\n')].map((text) => ({
    path: '',
    mode: '',
    bytes: Buffer.from(text),
    hadConflict: false,
  }));
  for (const found of search(texts, wantedFor(secrets))) {
    const [token] = found?.tokens ?? [];
    const about = found?.isProgram ? undefined : found?.reason;
    const reason = about ?? (token && looksLike(token.what));
    if (reason !== undefined) return reason.replace(/^contains/, 'contain');
  }
  return undefined;
}

function leadsOut(path: string, target: string): boolean {
  if (target.startsWith('/')) return true;
  let depth = path.split('/').length - 1;
  let isDown = false;
  for (const part of target.split('/')) {
    // After a folder that may be a symbolic link, ".." can lead anywhere.
    if (part === '..' && isDown) return true;
    isDown ||= part !== '' && part !== '.' && part !== '..';
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
