import type { App, Octokit } from '../../app.ts';
import { harmless } from '../../domain/text/quoted.ts';

interface Place {
  owner: string;
  repo: string;
  issue_number: number;
}

/** Our comment on an issue or pull request: the one with this marker that we wrote ourselves. */
export async function findOwnComment(app: App, octokit: Octokit, place: Place, marker: string) {
  const bot = await app.github?.bot();
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  // Page by page: the 2,500 comments that an issue may have can amount to hundreds of megabytes.
  const [own] = await octokit.paginate(path, { ...place, per_page: 100 }, ({ data }, done) => {
    const found = data.filter((c) => c.body?.startsWith(marker) && c.user?.id === bot?.id);
    if (found.length > 0) done();
    return found;
  });
  return own;
}

const replyMarker = '<!-- deckhand:reply -->';

/** Says something where no task is shown: in one comment, edited from then on. */
export async function reply(app: App, octokit: Octokit, place: Place, text: string): Promise<void> {
  await sayOnce(app, octokit, place, replyMarker, `${replyMarker}\n${harmless(text, app.config.COMMAND_PREFIX)}`);
}

/** Our comment with that marker: made if it is not there, changed if it says something else. `body` begins with the marker. */
export async function sayOnce(app: App, octokit: Octokit, place: Place, marker: string, body: string): Promise<void> {
  const found = await findOwnComment(app, octokit, place, marker);
  const { owner, repo } = place;
  if (found === undefined)
    await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...place, body });
  else if (found.body !== body)
    await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
      owner,
      repo,
      comment_id: Number(found.id),
      body,
    });
}
