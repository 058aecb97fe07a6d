import type { EntityManager } from 'typeorm';
import type { Octokit } from '../../app.ts';
import type { MirroredRow } from '../../db/tables/github.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { httpStatusOf } from '../app/place.ts';
import { findItem } from '../paginate.ts';
import type { WantedCheck } from './mirror.ts';
import { markCheck } from './mirror-store.ts';

export const checkName = 'deckhand';

interface CheckTarget {
  octokit: Octokit;
  name: RepoName;
  taskId: string;
  sha: string;
  detailsUrl: string;
}

/**
 * Updates our check run on the head of a pull request: the stored one, else the one found on GitHub, else a new one.
 * GitHub does not take back what a completed check run says (https://github.com/Mergifyio/mergify/pull/1989), so a new
 * one takes its place, also when somebody has asked for it again.
 */
export async function syncCheck(
  em: EntityManager,
  target: CheckTarget,
  mirrored: MirroredRow,
  wanted: WantedCheck,
): Promise<void> {
  const shown = JSON.stringify(wanted);
  if (mirrored.checkSha === target.sha && mirrored.checkShown === shown) return;
  const { octokit, name } = target;
  const { title, summary, status, conclusion, actions } = wanted;
  const body = {
    status,
    ...(conclusion === undefined ? {} : { conclusion }),
    output: { title, summary },
    actions,
    details_url: target.detailsUrl,
  };
  const known = knownCheck(mirrored, target.sha) ?? (await findCheck(target));
  const make = () =>
    octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...name,
      ...body,
      name: checkName,
      head_sha: target.sha,
      external_id: target.taskId,
    });
  const update = (id: number) =>
    octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', { ...name, ...body, check_run_id: id });
  let { data } = known === undefined || isSettled(known, wanted) ? await make() : await update(known.id);
  // After 14 days without an end, GitHub completes a check run as "stale", and may keep that.
  if (saysOther(data, wanted)) ({ data } = await make());
  await markCheck(em, mirrored, { id: Number(data.id), sha: target.sha, shown });
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
function knownCheck({ checkRunId, checkSha, checkShown }: MirroredRow, sha: string): KnownCheck | undefined {
  if (checkRunId === null || checkSha !== sha) return undefined;
  const shown: Partial<WantedCheck> = checkShown === null ? {} : JSON.parse(checkShown);
  return { id: checkRunId, status: shown.status, conclusion: shown.conclusion };
}

/** Looks for our check run on GitHub. Its id is unknown when GitHub's response to its creation was lost. */
async function findCheck({ octokit, name, taskId, sha }: CheckTarget): Promise<KnownCheck | undefined> {
  try {
    const path = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
    const query = { ...name, ref: sha, check_name: checkName, per_page: 100 };
    const own = await findItem(octokit.paginate.iterator(path, query), (run) => run.external_id === taskId);
    return own && { id: Number(own.id), status: own.status, conclusion: own.conclusion };
  } catch (error) {
    if (httpStatusOf(error) === 404) return undefined;
    throw error;
  }
}
