import type { EntityManager } from 'typeorm';
import type { App, Octokit } from '../../app.ts';
import type { MirroredRow } from '../../db/tables/github.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { unlessMissing } from '../../repositories/permission.ts';
import { queueMirror, recheckTask } from '../../tasks/move.ts';
import { httpStatusOf } from '../app/place.ts';
import { findItem } from '../paginate.ts';
import type { WantedCheck } from './mirror.ts';
import { findLaterCheck, findOtherCheck, forgetShownCheck, listShownOn, markCheck } from './mirror-store.ts';

export const checkName = 'deckhand';
/** The name of the check run that shows what the tests of a pull request prove. */
export const proofCheckName = 'Deckhand proof';

/** Returns whether a check run is one of ours, whose result is no reason for an agent to revise its work. */
export function isOwnCheck({ name, external_id: id }: { name: string; external_id: string | null }): boolean {
  return (
    (name === checkName && id?.startsWith('task_')) || (name === proofCheckName && id?.startsWith('proof_')) || false
  );
}

interface CheckTarget {
  octokit: Octokit;
  name: RepoName;
  /** The name of the check run. */
  check: string;
  /** What the check run shows, by our id. */
  externalId: string;
  sha: string;
  detailsUrl: string;
}

/** The check run as we showed it last. */
interface ShownCheck {
  id: number | null;
  sha: string | null;
  /** What it showed, as JSON; null when somebody has asked for it again. */
  shown: string | null;
}

/** What a task shows of a commit. */
interface OfCommit {
  sha: string;
  /** The commit is not ready in some open pull request. */
  isUnready: boolean;
  wanted: WantedCheck;
}

/**
 * Returns whether GitHub counts another task's check run of a commit instead of ours, although it does not hold: it is green and the
 * commit is not ready, or its pull request is no longer open on that commit.
 */
export async function isCheckHidden(em: EntityManager, mirrored: MirroredRow, of: OfCommit): Promise<boolean> {
  const latest = await findLaterCheck(em, mirrored, of.sha);
  if (latest === undefined || latest.conclusion === (of.wanted.conclusion ?? null)) return false;
  return !latest.isOpen || (of.isUnready && latest.conclusion === 'success');
}

interface TaskTarget extends Omit<CheckTarget, 'check' | 'externalId' | 'sha'> {
  taskId: string;
  /** Undefined if the task shows nothing on a commit any more. */
  sha: string | undefined;
}

/**
 * Updates the check run of a task on the head of a pull request, and remembers it. Other tasks with check runs of the same commit look
 * at theirs again, because GitHub counts only the latest one.
 */
export async function syncCheck(
  app: App,
  { taskId, sha, ...target }: TaskTarget,
  { mirrored, isHidden }: { mirrored: MirroredRow; isHidden: boolean },
  wanted: WantedCheck,
): Promise<void> {
  const em = app.db.manager;
  const { repositoryId, checkRunId: id, checkSha: earlier, checkShown } = mirrored;
  if (sha === undefined) return leave(app, { taskId, ...target }, mirrored);
  const before = { id, sha: earlier, shown: isHidden ? null : checkShown };
  const now = await showCheck({ ...target, sha, check: checkName, externalId: taskId }, before, wanted);
  if (now === undefined) return;
  if (earlier !== sha) await endLeft(target, mirrored, `The commit ${sha} took the place of this one.`);
  for (const commit of new Set([sha, earlier])) await showOthers(app, { taskId, repositoryId, commit });
  if (earlier !== null && earlier !== sha) await letLatestShow(app, mirrored, earlier);
  if (await markCheck(em, mirrored, { ...now, sha })) return;
  // The task was deleted while its check run was written, and nobody writes that again. It must not be the latest one.
  for (const other of await forgetShownCheck(em, repositoryId, { sha })) await recheckTask(app, other);
}

/** Ends the check run of a pull request that shows the task no longer. */
async function leave(app: App, target: Omit<TaskTarget, 'sha'>, mirrored: MirroredRow): Promise<void> {
  const { repositoryId, checkSha: sha } = mirrored;
  const ended = await endLeft(target, mirrored, 'The pull request is not open any more.');
  if (ended !== undefined && sha !== null) await markCheck(app.db.manager, mirrored, { ...ended, sha });
  await showOthers(app, { taskId: target.taskId, repositoryId, commit: sha });
}

/** Queues the jobs of the other tasks with check runs of a commit. */
async function showOthers(app: App, of: { taskId: string; repositoryId: string; commit: string | null }) {
  for (const other of await listShownOn(app.db.manager, of.repositoryId, of.commit))
    if (other !== of.taskId) await queueMirror(app, undefined, other);
}

/**
 * Ends a check run that is left behind while it says that an agent works: nobody else would ever end it. It must not become green.
 * Returns what it shows now; undefined if there is nothing to end.
 */
async function endLeft(
  { octokit, name }: Pick<CheckTarget, 'octokit' | 'name'>,
  { checkRunId: id, checkShown }: MirroredRow,
  summary: string,
): Promise<{ id: number; shown: string } | undefined> {
  const before: Partial<WantedCheck> = checkShown === null ? {} : JSON.parse(checkShown);
  if (id === null || before.status === undefined || before.status === 'completed') return undefined;
  const title = 'Not followed any more';
  const wanted: WantedCheck = { status: 'completed', conclusion: 'cancelled', title, summary, actions: [] };
  const path = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';
  const body = { status: 'completed', conclusion: 'cancelled', output: { title, summary } } as const;
  await unlessMissing(octokit.request(path, { ...name, check_run_id: id, ...body, actions: [] }));
  return { id, shown: JSON.stringify(wanted) };
}

/**
 * Lets another task write its check run of a commit again when the task with the latest one leaves that commit: GitHub goes on counting
 * the check run that is left behind, and we no longer store it.
 */
async function letLatestShow(app: App, left: MirroredRow, commit: string): Promise<void> {
  const em = app.db.manager;
  if ((await findLaterCheck(em, left, commit)) !== undefined) return;
  const checkRunId = await findOtherCheck(em, left, commit);
  if (checkRunId === undefined) return;
  for (const other of await forgetShownCheck(em, left.repositoryId, { checkRunId })) await recheckTask(app, other);
}

/**
 * Makes a check run show what is wanted: the stored one, else the one found on GitHub, else a new one. Returns undefined if it
 * does already.
 * GitHub does not take back what a completed check run says (https://github.com/Mergifyio/mergify/pull/1989), so a new
 * one takes its place, also when somebody has asked for it again.
 */
export async function showCheck(
  target: CheckTarget,
  before: ShownCheck,
  wanted: WantedCheck,
): Promise<{ id: number; shown: string } | undefined> {
  const shown = JSON.stringify(wanted);
  if (before.sha === target.sha && before.shown === shown) return undefined;
  const { octokit, name } = target;
  const { title, summary, status, conclusion, actions, annotations = [] } = wanted;
  const body = {
    status,
    ...(conclusion === undefined ? {} : { conclusion }),
    output: { title, summary, ...(annotations.length === 0 ? {} : { annotations }) },
    actions,
    details_url: target.detailsUrl,
  };
  const stored = knownCheck(before, target.sha);
  const known = stored ?? (await findCheck(target));
  const make = () =>
    octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...name,
      ...body,
      name: target.check,
      head_sha: target.sha,
      external_id: target.externalId,
    });
  const update = (id: number) =>
    octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', { ...name, ...body, check_run_id: id });
  // A completed check run that was stored no longer may be older than those of other tasks, and GitHub counts the latest.
  const isOld = stored === undefined && known?.status === 'completed';
  const isNew = known === undefined || isOld || isSettled(known, wanted);
  let { data } = isNew ? await make() : await update(known.id);
  // After 14 days without an end, GitHub completes a check run as "stale", and may keep that.
  if (saysOther(data, wanted)) ({ data } = await make());
  return { id: Number(data.id), shown };
}

/**
 * Returns whether a check run cannot show what is wanted. When somebody asks for it again, GitHub resets its suite, but not
 * the check run (docs.github.com, "Rerequest a check run"): only a new one ends the suite.
 */
function isSettled(known: KnownCheck, wanted: WantedCheck): boolean {
  return known.status === undefined || saysOther(known, wanted);
}

/** Returns whether a check run is completed as something else than what is wanted. */
function saysOther(shown: Pick<KnownCheck, 'status' | 'conclusion'>, { status, conclusion }: WantedCheck): boolean {
  return shown.status === 'completed' && (status !== 'completed' || shown.conclusion !== conclusion);
}

interface KnownCheck {
  id: number;
  /** Undefined when somebody has asked for it again. */
  status: string | undefined;
  conclusion: string | null | undefined;
}

/** Returns our check run of a commit as we showed it last. */
function knownCheck({ id, sha: of, shown: text }: ShownCheck, sha: string): KnownCheck | undefined {
  if (id === null || of !== sha) return undefined;
  const shown: Partial<WantedCheck> = text === null ? {} : JSON.parse(text);
  return { id, status: shown.status, conclusion: shown.conclusion };
}

/** Looks for our check run on GitHub. Its id is unknown when GitHub's response to its creation was lost. */
async function findCheck({ octokit, name, check, externalId, sha }: CheckTarget): Promise<KnownCheck | undefined> {
  try {
    const path = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
    const query = { ...name, ref: sha, check_name: check, per_page: 100 };
    const own = await findItem(octokit.paginate.iterator(path, query), (run) => run.external_id === externalId);
    return own && { id: Number(own.id), status: own.status, conclusion: own.conclusion };
  } catch (error) {
    if (httpStatusOf(error) === 404) return undefined;
    throw error;
  }
}
