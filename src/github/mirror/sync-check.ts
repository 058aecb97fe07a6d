import type { EntityManager } from 'typeorm';
import type { Octokit } from '../../app.ts';
import type { MirroredRow } from '../../db/tables/github.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { findItem } from '../paginate.ts';
import { httpStatusOf } from '../place.ts';
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
  const known = mirrored.checkSha === target.sha ? mirrored.checkRunId : null;
  const id = known ?? (await findCheck(target));
  const made =
    id === undefined
      ? await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
          ...name,
          ...body,
          name: checkName,
          head_sha: target.sha,
          external_id: target.taskId,
        })
      : await octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
          ...name,
          ...body,
          check_run_id: id,
        });
  await markCheck(em, mirrored, { id: Number(made.data.id), sha: target.sha, shown });
}

/** Looks for our check run on GitHub. Its id is unknown when GitHub's response to its creation was lost. */
async function findCheck({ octokit, name, taskId, sha }: CheckTarget): Promise<number | undefined> {
  try {
    const path = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
    const query = { ...name, ref: sha, check_name: checkName, per_page: 100 };
    const own = await findItem(octokit.paginate.iterator(path, query), (run) => run.external_id === taskId);
    return own && Number(own.id);
  } catch (error) {
    if (httpStatusOf(error) === 404) return undefined;
    throw error;
  }
}
