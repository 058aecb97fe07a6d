import type { Octokit } from '../../app.ts';
import type { RepoName } from '../../git/remote-url.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { noSettings, parseSettings, settingsFile } from './repository-settings.ts';
import type { RepositorySettings } from './schema.ts';

/**
 * Reads the settings of a repository through GitHub's API, without a clone; by default those of its default branch.
 * @throws RunFailed `repository` when the file is invalid, and the error of GitHub when it cannot be asked
 */
export async function settingsOnGitHub(octokit: Octokit, at: RepoName & At): Promise<RepositorySettings> {
  const path = 'GET /repos/{owner}/{repo}/contents/{path}';
  const file = await octokit.request(path, { ...at, path: settingsFile }).then(
    ({ data }) => data,
    (error) => {
      if (isRefusedWith(error, 404)) return undefined;
      throw error;
    },
  );
  if (file === undefined || !('content' in file)) return noSettings;
  // GitHub sends no content of files above 1 MB.
  const isWhole = file.encoding === 'base64';
  return parseSettings(isWhole ? Buffer.from(file.content, 'base64') : 'too large');
}

interface At {
  ref?: string;
  request?: { signal: AbortSignal };
}
