import type { EntityManager } from 'typeorm';
import type { Octokit } from '../../app.ts';
import { httpStatusOf } from '../place.ts';
import type { WantedCheck } from './mirror.ts';
import { type Mirrored, markCheck } from './mirror-store.ts';

export const checkName = 'deckhand';

interface At {
  octokit: Octokit;
  name: { owner: string; repo: string };
  taskId: string;
  sha: string;
  detailsUrl: string;
}

/** One check run on the head of a pull request: the stored one, the one that is there, or a new one. */
export async function syncCheck(em: EntityManager, at: At, place: Mirrored, wanted: WantedCheck): Promise<void> {
  const shown = JSON.stringify(wanted);
  if (place.checkSha === at.sha && place.checkShown === shown) return;
  const { octokit, name } = at;
  const { title, summary, status, conclusion, actions } = wanted;
  const body = {
    status,
    ...(conclusion === undefined ? {} : { conclusion }),
    output: { title, summary },
    actions,
    details_url: at.detailsUrl,
  };
  const known = place.checkSha === at.sha ? place.checkRunId : null;
  const id = known ?? (await findCheck(at));
  const made =
    id === undefined
      ? await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
          ...name,
          ...body,
          name: checkName,
          head_sha: at.sha,
          external_id: at.taskId,
        })
      : await octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
          ...name,
          ...body,
          check_run_id: id,
        });
  await markCheck(em, place, { id: Number(made.data.id), sha: at.sha, shown });
}

/** A creation whose answer got lost left a check run that we have no number of. */
async function findCheck({ octokit, name, taskId, sha }: At): Promise<number | undefined> {
  try {
    const found = await octokit.paginate('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
      ...name,
      ref: sha,
      check_name: checkName,
      per_page: 100,
    });
    const own = found.find((run) => run.external_id === taskId);
    return own && Number(own.id);
  } catch (error) {
    if (httpStatusOf(error) === 404) return undefined;
    throw error;
  }
}
