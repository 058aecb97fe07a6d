import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { httpStatusOf, type Place, readRepository } from '../app/place.ts';

/**
 * Reads an issue. A deleted or transferred one is `gone`: GitHub answers with 410 or a redirect. It is `hidden` while we may
 * not read it or the repository, or while issues are switched off there. GitHub answers with 404 what it does not show
 * us, so that says nothing about whether the issue is there. For switched off issues it answers with 410, too.
 */
export async function readIssue({ octokit, name, repository }: Place, number: number) {
  const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}';
  const found = await octokit.request(path, { ...name, issue_number: number }).then(
    ({ data }) => data,
    (error) => {
      if (!isRefusedWith(error, 404, 410)) throw error;
      return httpStatusOf(error) === 404 ? 'hidden' : undefined;
    },
  );
  if (found === 'hidden') return found;
  // GitHub redirects both a transferred issue and a renamed repository to the new address. Only in the second case
  // does the issue still belong to this repository.
  if (found?.repository_url.toLowerCase().endsWith(`/repos/${name.owner}/${name.repo}`.toLowerCase())) return found;
  const now = await readRepository({ octokit, name, repository });
  if (now === undefined || now.has_issues === false) return 'hidden';
  return found !== undefined && found.repository_url === now.url ? found : 'gone';
}
