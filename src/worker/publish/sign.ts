import type { App, GitHub, Octokit } from '../../app.ts';
import { RunFailed } from '../../domain/run.ts';
import { asideRef, GitFailed } from '../../git/engine.ts';
import { octokitFor } from '../../repositories/credentials.ts';
import { unlessMissing } from '../../repositories/permission.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { deleteStep, insertEvent, insertStep, pushingStep, signedPrefix, stepOf } from '../../runs/journal.ts';
import { lockForPush } from '../../runs/store.ts';
import { saidBy, temporaryFault } from '../retry.ts';
import type { Work } from '../work.ts';
import type { Branch } from '../workspace/workspace.ts';

/** A commit that git has written here, and what GitHub needs to make the same one with its signature. */
export interface Unsigned {
  commit: string;
  tree: string;
  parents: string[];
  message: string;
}

/** What happened so far while a run signs the commit of one repository. */
export interface Signing {
  /** Temporary faults. After a few of them the commit is pushed as it is. */
  faults: number;
  /** Whether GitHub may have the ref with the objects of the commit. */
  hasRef: boolean;
}

/** The commit that GitHub has made, or the reason why it has not, as the end of a sentence. */
type Signed = { commit: string } | { reason: string };

/** GitHub does not let us move the branch to its commit, although nobody else has moved it. */
export class MoveRefused extends Error {}

/** After so many temporary faults, the commit is pushed as it is. */
const maxFaults = 3;

/**
 * Returns the commit to push: the one that GitHub has made and signed of the same tree, parents and message, or else the given
 * one. What GitHub makes has a new date and thus another id each time, so it is recorded before the branch moves to it.
 */
export async function signedOrNot(app: App, work: Work, unsigned: Unsigned, signing: Signing): Promise<string> {
  const { settings, journal, run } = work;
  if (settings.verified === 'never' || (await isBegun(work, unsigned))) return unsigned.commit;
  const known = await journal.recall<Signed>(stepFor(work, unsigned));
  const signed =
    known ??
    (await app.db.transaction(async (em) => {
      await lockForPush(em, run.id);
      // Nothing of a cancelled run reaches GitHub.
      await journal.write(async () => {});
      return sign(app, { ...work, name: run.id }, unsigned, signing);
    }));
  if (known === undefined) await record(work, unsigned, signed);
  if (!('commit' in signed)) return unsigned.commit;
  signing.hasRef = true;
  return signed.commit;
}

/** Records that a commit is pushed as it is, because GitHub refused to move the branch to the signed one. */
export function giveUpSigning(work: Work, unsigned: Unsigned, { message }: MoveRefused): Promise<void> {
  return record(work, unsigned, { reason: message });
}

async function record(work: Work, unsigned: Unsigned, signed: Signed): Promise<void> {
  const { journal, run } = work;
  const name = stepFor(work, unsigned);
  await journal.write(async (em) => {
    await deleteStep(em, run.id, name);
    await insertStep(em, run.id, name, signed);
    if ('reason' in signed)
      await insertEvent(em, run.id, 'push', `the commit is not signed by GitHub: ${signed.reason}`, {});
  });
}

function stepFor({ task, repository }: Work, { commit }: Unsigned): string {
  return stepOf(signedPrefix + commit, task, repository);
}

/** Returns whether a worker has begun to push the commit as it is, as all versions before did. */
async function isBegun({ journal, task, repository }: Work, { commit }: Unsigned): Promise<boolean> {
  return (await journal.recall<{ commit: string }>(stepOf(pushingStep, task, repository)))?.commit === commit;
}

/** Where a commit is signed. `name` is that of our ref. */
type Place = Pick<Work, 'credential' | 'checkout' | 'signal'> & { name: string };

/**
 * Lets GitHub make and sign a commit. GitHub makes commits of trees that it has, so the objects are pushed first, to a ref
 * that is no branch.
 * @throws RunFailed `internal` when GitHub has signed another commit than the one it was asked for
 */
async function sign(app: App, place: Place, unsigned: Unsigned, signing: Signing): Promise<Signed> {
  const { credential, checkout, name, signal } = place;
  if (credential.kind !== 'installation' || app.github === undefined)
    return { reason: 'the repository is reached without the GitHub App' };
  const { commit, tree, parents, message } = unsigned;
  const { owner, repo, installationId } = credential;
  try {
    const octokit = await octokitFor(app, credential);
    const make = (made: Omit<Unsigned, 'commit'>) => makeCommit(octokit, { owner, repo, signal, ...made });
    const [parent = ''] = parents;
    // GitHub has the tree of the parent, so it can be asked before anything is pushed.
    const reason = await inabilityOf(app.github, installationId, async () =>
      unverified(await make({ tree: await checkout.treeOf(parent), parents: [parent], message: question })),
    );
    if (reason !== undefined) return { reason };
    signing.hasRef = true;
    await checkout.pushAside(commit, name);
    const made = await make({ tree, parents, message });
    const lack = unverified(made);
    app.github.signing.set(installationId, { reason: lack, at: Date.now() });
    if (lack !== undefined) return { reason: lack };
    if (made.tree.sha !== tree || made.parents.map(({ sha }) => sha).join() !== parents.join())
      throw new RunFailed(
        'internal',
        `GitHub made the commit ${made.sha} of other files or parents than it was asked to`,
      );
    return { commit: made.sha };
  } catch (error) {
    const reason = refusalIn(error, signal);
    const isTemporary = temporaryFault(error) !== undefined && (error as { status?: number }).status !== 501;
    if (reason === undefined || (isTemporary && ++signing.faults < maxFaults)) throw error;
    return { reason };
  }
}

/** The message of a commit that no ref ever points to. */
const question = 'Asks whether this host signs commits\n';

async function makeCommit(
  octokit: Octokit,
  { signal, ...asked }: Omit<Unsigned, 'commit'> & { owner: string; repo: string; signal: AbortSignal },
) {
  // Without author and committer GitHub makes the commit in the name of the App's bot, and signs it.
  // The client would repeat refusals such as 405 for a quarter of a minute. Temporary faults are retried by the run.
  const request = { signal, retries: 0 };
  return (await octokit.request('POST /repos/{owner}/{repo}/git/commits', { ...asked, request })).data;
}

type Made = Awaited<ReturnType<typeof makeCommit>>;

/** Returns why a commit would not be shown as verified. The answer may be of a host that only looks like GitHub. */
function unverified(made: Partial<Made> | undefined): string | undefined {
  if (made?.verification?.verified === true && made.sha && made.tree && made.parents) return undefined;
  return `the host made a commit that is not verified (${String(made?.verification?.reason ?? 'no reason').slice(0, 100)})`;
}

/** Returns the words of GitHub or git; undefined for errors that are not theirs. */
function refusalIn(error: unknown, signal: AbortSignal): string | undefined {
  const { name, status } = error as { name?: string; status?: number };
  if (signal.aborted) return undefined;
  if (error instanceof GitFailed) return error.message;
  return name === 'HttpError' && status !== undefined ? saidBy(error as Error, status) : undefined;
}

/** A host that does not sign commits is asked again after this time. */
const askedAgainMs = 600_000;

/** Asks once whether the commits of an installation are signed, so that nothing is pushed in vain. Returns why not. */
async function inabilityOf(
  { signing }: GitHub,
  installationId: number,
  ask: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const before = signing.get(installationId);
  if (before !== undefined && (before.reason === undefined || Date.now() - before.at < askedAgainMs))
    return before.reason;
  const reason = await ask();
  signing.set(installationId, { reason, at: Date.now() });
  return reason;
}

/** A branch, and if it is not new, where it should still be. */
type MovedBranch = Pick<Branch, 'name' | 'from' | 'continues'>;

/**
 * Moves the branch to a commit that GitHub has made, never by force. Can be repeated. `rightBefore` is called when the request
 * has its slot.
 * @throws GitFailed `rejected` when somebody else has moved the branch
 * @throws MoveRefused
 */
export async function moveBranch(
  app: App,
  { credential, branch, signal }: Pick<Work, 'credential' | 'signal'> & { branch: MovedBranch },
  commit: string,
  rightBefore?: () => Promise<void>,
): Promise<void> {
  if (credential.kind !== 'installation') throw new MoveRefused('the repository is reached without the GitHub App');
  const octokit = await octokitFor(app, credential);
  const name = { owner: credential.owner, repo: credential.repo };
  const at = { ...name, sha: commit, request: { signal, rightBefore } };
  const ref = `heads/${branch.name}`;
  try {
    if (branch.continues)
      await octokit.request('PATCH /repos/{owner}/{repo}/git/refs/{ref}', { ...at, ref, force: false });
    else await octokit.request('POST /repos/{owner}/{repo}/git/refs', { ...at, ref: `refs/${ref}` });
  } catch (error) {
    const reason = refusalIn(error, signal);
    if (reason === undefined) throw error;
    const head = await headOf(octokit, { ...name, branch: branch.name, request: { signal } });
    // The answer was lost, or an earlier worker has moved it.
    if (head === commit) return;
    if (temporaryFault(error) !== undefined) throw error;
    if (head !== undefined && !(branch.continues && head === branch.from))
      throw new GitFailed(
        'rejected',
        `git: ${branch.name} has moved to ${head.slice(0, 7)} since the run began: ${reason}`,
      );
    throw new MoveRefused(reason);
  }
}

async function headOf(
  octokit: Octokit,
  { owner, repo, branch, request }: { owner: string; repo: string; branch: string; request: { signal: AbortSignal } },
): Promise<string | undefined> {
  const path = 'GET /repos/{owner}/{repo}/branches/{branch}';
  return (await unlessMissing(octokit.request(path, { owner, repo, branch, request })))?.commit.sha;
}

/** Pushes a commit to a new branch, outside of a run. If GitHub can sign it, its own commit takes the place of that one. */
export async function pushNew(
  app: App,
  place: Place & { branch: string; settings: Pick<RepositorySettings, 'verified'> },
  unsigned: Unsigned,
): Promise<void> {
  const { checkout, branch, settings } = place;
  // No time to wait: the first fault decides.
  const signing = { faults: maxFaults - 1, hasRef: false };
  try {
    const signed =
      settings.verified === 'never'
        ? undefined
        : await app.db.transaction(async (em) => {
            // The comparison with GitHub removes refs that nobody holds.
            await lockForPush(em, place.name);
            return sign(app, place, unsigned, signing);
          });
    if (signed !== undefined && 'commit' in signed) {
      const [from = ''] = unsigned.parents;
      const moved = { name: branch, from, continues: false };
      await moveBranch(app, { ...place, branch: moved }, signed.commit);
      return;
    }
    await checkout.push(unsigned.commit, branch);
  } catch (error) {
    if (!(error instanceof MoveRefused)) throw error;
    await checkout.push(unsigned.commit, branch);
  } finally {
    await removeRef(app, place, signing);
  }
}

/** Removes the ref with the objects of the commit from GitHub. If that fails, it stays; nobody sees it. */
export async function removeRef(
  app: App,
  { checkout, name, signal }: Omit<Place, 'credential'>,
  signing: Signing,
): Promise<void> {
  if (!signing.hasRef || signal.aborted) return;
  await checkout.removeAside(name).catch((error) => {
    app.log.warn({ err: error, ref: asideRef(name) }, 'the ref with the objects of a signed commit was not removed');
  });
}
